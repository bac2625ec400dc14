/** Connects fan-out and execution: what event-life.ts, the routes and service.ts need of functions. */

import {
  createEventIdGenerator,
  type EventIdGenerator,
  type FunctionNo,
  isEventId,
  Refusal,
  type RunId,
  type RunNo,
} from "@inlet/protocol";
import type { Logger } from "pino";
import type { FunctionsRoutesParts } from "../api/runs/functions-routes.ts";
import type { RunsRoutesParts } from "../api/runs/runs-routes.ts";
import type { SignalsRoutesParts } from "../api/runs/signals-routes.ts";
import type { SdkRoutesParts } from "../api/sdk/sdk-routes.ts";
import type { Config } from "../config/config.ts";
import type { DedupWindow } from "../deduplicate/dedup-window.ts";
import { AppSync } from "../execute/apps/app-sync.ts";
import { AppWatch } from "../execute/apps/app-watch.ts";
import type { SyncScope } from "../execute/apps/deploy-id.ts";
import type { AppCaller } from "../execute/call/call-app.ts";
import type { Clock } from "../execute/clock.ts";
import { Executor } from "../execute/executor.ts";
import { createBackoff } from "../execute/queue/backoff.ts";
import { createEndEvents, internalBatch } from "../execute/steps/end-events.ts";
import { cancelRun, resolveStep } from "../execute/steps/run-changes.ts";
import { type InvokeParts, readInvocation, readSleep, readWait } from "../execute/steps/step-parameters.ts";
import { FanOut, once } from "../fan-out/fan-out.ts";
import { gateOfLane, rulesOfLane } from "../fan-out/lanes.ts";
import { Registry } from "../fan-out/registry.ts";
import { FunctionStarts } from "../fan-out/starts/function-starts.ts";
import { eventValue, newWait } from "../fan-out/waits.ts";
import { createInngestAnswers, type InngestAnswers } from "../flows/answer-inngest.ts";
import { createSdkAnswers, type SdkAnswers } from "../flows/answer-sdks.ts";
import type { SendingRun } from "../flows/event-life.ts";
import { PauseFunctions } from "../flows/pause-functions.ts";
import { repeatedRun, rerunRun } from "../flows/rerun-run.ts";
import { whyRunWaits } from "../flows/why-run-waits.ts";
import type { LiveLog } from "../observe/live-log.ts";
import type { Metrics } from "../observe/metrics/metrics.ts";
import { RunSpans } from "../observe/telemetry/run-spans.ts";
import type { Tracing } from "../observe/telemetry/tracing.ts";
import type { Traffic } from "../observe/traffic.ts";
import type { Directory } from "../receive/senders/directory.ts";
import type {
  App,
  ClaimedEntry,
  Environment,
  Lease,
  NewEvent,
  NewRun,
  RunState,
  RunSummary,
  Store,
  StoredEvent,
} from "../store/contract/index.ts";

export interface Functions {
  /** Adds to an event what it starts. */
  plan(environmentId: Environment["id"], event: NewEvent, now: number): NewEvent;
  lease(): Lease;
  take(entries: readonly ClaimedEntry[]): void;
  /** The run of this environment that sends an event. */
  sendingRun(environmentId: Environment["id"], runId: string): Promise<SendingRun | null>;
  /** The functions that events of this name start. */
  subscribersOf(environmentId: Environment["id"], eventName: string): { id: string; name: string }[];
  /** The display name of the function with this id, in any environment. */
  functionName(id: string): string;
  sdk: SdkRoutesParts["sdk"];
  inngest: Omit<InngestAnswers, "start" | "stop">;
  runs: RunsRoutesParts["runs"];
  /** False if the run has already ended. */
  cancelRun(run: { environmentId: Environment["id"]; no: RunNo }): Promise<boolean>;
  /** Functions of an environment with this id, including archived ones; null: all. */
  functionNos(environmentId: Environment["id"], functionId: string | null): FunctionNo[];
  /** Stores an internal event, with what it starts. */
  emit(event: { environmentId: Environment["id"]; name: string; dedupId: string; data: string }): Promise<void>;
  /** What jobs start. */
  jobStarts: {
    replay(environmentId: Environment["id"], event: StoredEvent, functionId: string | null): NewRun[];
    repeat(run: RunSummary, event: StoredEvent): NewRun | null;
  };
  signals: SignalsRoutesParts["signals"];
  registry: FunctionsRoutesParts["registry"];
  /** By environment, since when calls wait in this process. */
  waitingSince(): ReadonlyMap<Environment["id"], number>;
  /** The same by function. */
  functionsWaitingSince(): ReadonlyMap<FunctionNo, number>;
  functionId(no: FunctionNo): string;
  /** Called before events are accepted. */
  open(): Promise<void>;
  /** Starts processing the queue, and discovers apps. */
  start(port: number): Promise<void>;
  stop(): Promise<void>;
}

export interface FunctionsParts {
  config: Config;
  store: Store;
  directory: Directory;
  dedupWindow: DedupWindow;
  eventIds: EventIdGenerator;
  defaultEnvironment: string;
  /** Newest first. Empty on a dev server: nothing is signed. */
  signingKeys(): readonly string[];
  liveLog: LiveLog | null;
  traffic: Traffic;
  metrics: Metrics | null;
  /** Null: traces are not exported. */
  tracing: Tracing | null;
  caller: Pick<AppCaller, "call" | "fetch" | "stop">;
  log: Logger;
  clock: Clock;
}

export function createFunctions(parts: FunctionsParts): Functions {
  const { config, store, directory, eventIds, signingKeys, caller, log, clock } = parts;
  const { now } = clock;
  const registry = new Registry(store);
  const runIds = createEventIdGenerator();
  const onFault = (functionId: string, fault: string) =>
    log.warn({ function: functionId, fault }, "a trigger's expression has no value for an event");
  const fanOut = new FanOut({ registry, runIds, keyHash: store.storeKeyHash, onFault });
  const functionId = (no: Parameters<Registry["function"]>[0]) => registry.function(no)?.id ?? "unknown";
  const environmentName = (id: Environment["id"]) => directory.environment(id)?.name ?? String(id);
  const spans = parts.tracing && new RunSpans({ tracing: parts.tracing, functionId, environmentName, now });
  const traced = (event: NewEvent) => spans?.traced(event) ?? event;
  const plan: Functions["plan"] = (environmentId, event, at) => fanOut.plan(environmentId, traced(event), at);
  const isSubscribed = (id: Environment["id"], name: string) => registry.candidates(id, name).length > 0;
  const endEvents = createEndEvents({ functionId, isSubscribed, plan, eventIds });
  const lease = () => executor.lease();
  const isArchived = (id: Environment["id"]) => directory.environment(id)?.archivedAt != null;
  const starts = new FunctionStarts({
    ...{ store, registry, fanOut, eventIds, lease, traced, isArchived, now },
    async refuse(environmentId, { runNo, stepId }, value) {
      await executor.change({ environmentId, no: runNo }, (state) => resolveStep(state, { id: stepId, status: "failed", value }, now()));
    },
  });
  const invokeParts: InvokeParts = {
    eventIds,
    functionId,
    start(environmentId, id, event, at) {
      const target = registry.functionWithId(environmentId, id);
      return target ? fanOut.begin(target, event, at, at) : null;
    },
  };
  const executor: Executor = new Executor({
    store,
    caller,
    functionOf(no) {
      const known = registry.function(no);
      if (!known) return undefined;
      const { app, uuid, config: settings, stored } = known;
      const { url, retries, timeouts, ordering } = settings;
      const holdsOrder = ordering?.onFailure === "hold" && !known.isArchived;
      return { app, uuid, url, retries, timeouts, holdsOrder, isPaused: stored.pausedAt !== null || isArchived(known.environmentId) };
    },
    rulesOf: (lane) => rulesOfLane(registry, lane, config.appCalls),
    gateOf: (lane) => gateOfLane(registry, lane),
    prefetch: config.queuePrefetch,
    leaseMs: config.lease,
    leaseIds: createEventIdGenerator(),
    signingKeys,
    backoff: createBackoff(config.retryInterval),
    endEvents,
    steps: {
      sleepUntil: readSleep,
      wait(operation, state, since, at) {
        const fields = readWait(operation, at);
        if (typeof fields === "string") return fields;
        const runEvent = once(() => eventValue(state.events()[0] as NewEvent));
        return newWait({ kind: "event", stepId: operation.id, since, ...fields }, runEvent);
      },
      invoke: (operation, state, at) => readInvocation(invokeParts, operation, state, at),
    },
    starts,
    onEnd(run, end) {
      const { environmentId, functionNo, id } = run;
      if (end.status !== "cancelled") parts.traffic.note(environmentId, end.status === "completed" ? "runsCompleted" : "runsFailed");
      parts.liveLog?.ended(functionId(functionNo), id, end);
      parts.metrics?.runEnded(run, end);
    },
    onStart({ environmentId, functionNo }) {
      parts.traffic.note(environmentId, "runsStarted");
      parts.metrics?.runStarted(environmentId, functionNo);
    },
    onCall: (entry, result) => parts.metrics?.called(entry, result),
    tracing: spans,
    log,
    clock,
  });
  const cancelHeld = (state: RunState) => cancelRun(state, now(), endEvents, "It was cancelled when its function was resumed.");
  const holds = new PauseFunctions({
    ...{ store, registry, executor, now, cancel: cancelHeld },
    onFault: (error) => log.warn({ err: error }, "held calls could not be read; this will be retried with the next change"),
  });
  registry.onRefresh((hasChanged) => {
    if (hasChanged) executor.refresh();
    holds.refresh();
  });
  directory.onRefresh(() => holds.refresh());
  const sync: AppSync = new AppSync({
    ...{ caller, signingKeys, now },
    async apps() {
      await registry.refresh();
      return registry.apps();
    },
    register: (home, answer, environments) => sdk.registerInBand(home, answer, environments),
    newId: () => eventIds.next(now()),
  });

  let ownPort = 0;
  const watch = new AppWatch({
    urls: config.appUrl,
    discovers: config.discover === "on",
    asksAgain: config.mode === "dev",
    ownPort: () => ownPort,
    known: () => registry.apps(directory.environmentNamed(parts.defaultEnvironment)?.id),
    sync: async (url) => {
      const home = directory.environmentNamed(parts.defaultEnvironment) as Environment;
      const outcome = await syncIn(home, url, null);
      return outcome instanceof Refusal ? outcome.message : outcome;
    },
    onFault: (url, fault) => log.warn({ url, fault }, "an app could not be synced"),
  });

  /** The reason of a failure is shown with the app, if the app is known. */
  async function syncIn(home: Environment, url: string, environments: SyncScope["environments"]): Promise<App | string | Refusal> {
    const outcome = await sync.ask(home, url, environments);
    if (typeof outcome !== "string") return outcome;
    const known = registry.apps(home.id).filter((app) => app.url === url && app.error !== outcome);
    if (known.length > 0) {
      await store.appFault({ environmentId: home.id, url, error: outcome });
      await registry.refresh();
    }
    return outcome;
  }

  const inngest = createInngestAnswers({ ...parts, registry, fanOut, executor, endEvents });
  const sdk: SdkAnswers = createSdkAnswers({ ...parts, registry, executor, sync, now });
  const cancelByHand: Functions["cancelRun"] = (run) =>
    executor.change(run, (state) => cancelRun(state, now(), endEvents, "It was cancelled by hand."));
  const runs: Functions["runs"] = {
    functionName(no) {
      const known = registry.function(no);
      return { id: known?.id ?? "unknown", name: known?.name ?? "unknown", app: known?.app.name ?? "unknown" };
    },
    functionNos: ({ id }, wanted) =>
      registry
        .everyFunction(id)
        .filter((known) => known.id === wanted)
        .map(({ no }) => no),
    cancel: (run) => cancelByHand(run),
    waiting: (run, environment) => whyRunWaits({ store, registry, now }, run, environment),
    rerun: (run, from) => rerunRun({ store, registry, fanOut, executor, now }, run, from),
  };

  return {
    plan,
    lease,
    take: (entries) => executor.take(entries),
    waitingSince: () => executor.waitingSince(),
    functionsWaitingSince: () => executor.functionsWaitingSince(),
    functionId,
    subscribersOf: (environmentId, name) =>
      registry.candidates(environmentId, name).flatMap(({ functionNo }) => {
        const known = registry.function(functionNo as FunctionNo);
        return known ? [{ id: known.id, name: known.name }] : [];
      }),
    functionName: (id) => registry.nameOf(id) ?? id,
    async sendingRun(environmentId, runId) {
      const run = isEventId(runId) ? await store.runFind({ id: runId as string as RunId }) : null;
      if (run?.environmentId !== environmentId) return null;
      const { functionNo, eventSequence: sequence } = run;
      const trace = async () => (await store.eventAt({ environmentId, sequence }))?.trace ?? null;
      return { source: { kind: "function", id: functionId(functionNo) }, trace };
    },
    sdk,
    inngest,
    runs,
    cancelRun: cancelByHand,
    functionNos: (environmentId, id) =>
      registry.everyFunction(environmentId).flatMap((known) => (id === null || known.id === id ? [known.no] : [])),
    async emit({ environmentId, name, dedupId, data }) {
      const at = now();
      const event = plan(environmentId, { id: eventIds.next(at), name, ts: at, dedupId, data, extras: null }, at);
      const { leased } = await store.eventAppend({ ...internalBatch(environmentId, at, [event]), lease: lease() });
      executor.take(leased);
    },
    jobStarts: {
      replay: (environmentId, event, id) => fanOut.replay(environmentId, event, id, now()),
      repeat: (run, event) => repeatedRun({ registry, fanOut, now }, run, event),
    },
    signals: {
      async send({ id: environmentId }, signal, data) {
        const value = `{"data":{"signal":${JSON.stringify(signal)},"data":${data}}}`;
        const { runId, leased } = await store.signalSend({ environmentId, signal, value, now: now(), lease: lease() });
        executor.take(leased);
        return runId;
      },
    },
    registry: {
      apps: ({ id }) => registry.apps(id),
      functions: ({ id }) =>
        registry.functions(id).map(({ stored, app, config: settings }) => ({ stored, app, url: settings.url, config: settings.raw })),
      refresh: () => registry.refresh(),
      sync: syncIn,
      held: async ({ id }) =>
        new Map((await store.queueHeld({ environmentId: id })).map(({ functionNo, runs: count }) => [functionNo, count])),
      pause: (environment, id) => holds.pause(environment, id),
      resume: (environment, id, held) => holds.resume(environment, id, held),
    },
    async open() {
      await registry.refresh();
      await executor.recover();
    },
    async start(port) {
      ownPort = port;
      await executor.start();
      inngest.start();
      watch.start();
    },
    async stop() {
      // The executor begins no call from this moment on, whatever the others have to wait for.
      await Promise.all([executor.stop(config.drainTimeout), watch.stop(), inngest.stop(), holds.stop()]);
    },
  };
}
