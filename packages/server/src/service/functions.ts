/** Connects fan-out and execution: what event-life.ts, the routes and service.ts need of functions. */

import { createEventIdGenerator, type EventIdGenerator, type FunctionNo, isEventId, type RunId, type RunNo } from "@inlet/protocol";
import { approvalUrl } from "../api/approvals/approval-url.ts";
import type { ApprovalsPart } from "../api/approvals/approvals-part.ts";
import type { RunCopyRoutesParts } from "../api/runs/run-copy-routes.ts";
import type { RunsRoutesParts } from "../api/runs/runs-routes.ts";
import type { SignalsRoutesParts } from "../api/runs/signals-routes.ts";
import type { SdkRoutesParts } from "../api/sdk/sdk-routes.ts";
import type { Executor } from "../execute/executor.ts";
import { askApproval } from "../execute/steps/approval-events.ts";
import { createEndEvents, internalBatch } from "../execute/steps/end-events.ts";
import { cancelRun, failedResult, resolveStep } from "../execute/steps/run-changes.ts";
import { FanOut } from "../fan-out/fan-out.ts";
import { Registry } from "../fan-out/registry.ts";
import { FunctionStarts, type FunctionStartsParts } from "../fan-out/starts/function-starts.ts";
import { createInngestResponses, type InngestResponses } from "../flows/answer-inngest.ts";
import { createSdkResponses, type SdkResponses } from "../flows/answer-sdks.ts";
import { copyOfRun, startCopy } from "../flows/copy-run.ts";
import { createApprovals } from "../flows/decide-approvals.ts";
import type { SendingRun } from "../flows/event-life.ts";
import { PauseFunctions } from "../flows/pause-functions.ts";
import { repeatedRun } from "../flows/rerun-run.ts";
import { SyncApps } from "../flows/sync-apps.ts";
import { RunSpans } from "../observe/telemetry/run-spans.ts";
import type { ClaimedEntry, Environment, Lease, NewEvent, NewRun, RunSummary, Store, StoredEvent } from "../store/contract/index.ts";
import { createFunctionExecutor } from "./function-executor.ts";
import { functionNosOf, type RoutesRegistry, registryOfRoutes, runsOfRoutes } from "./functions-of-routes.ts";
import type { FunctionsParts } from "./functions-parts.ts";

export interface Functions {
  /** Adds to an event what it starts. */
  plan(environmentId: Environment["id"], event: NewEvent, now: number): NewEvent;
  lease(): Lease;
  take(entries: readonly ClaimedEntry[]): void;
  /** The run of this environment that sends an event. */
  sendingRun(environmentId: Environment["id"], runId: string): Promise<SendingRun | null>;
  /** How many calls of an environment this node makes now. */
  callsOf(environmentId: Environment["id"]): number;
  /** The functions that events of this name start. */
  subscribersOf(environmentId: Environment["id"], eventName: string): { id: string; name: string }[];
  /** The display name of the function with this id, in any environment. */
  functionName(id: string): string;
  sdk: SdkRoutesParts["sdk"];
  inngest: Omit<InngestResponses, "start" | "stop">;
  runs: RunsRoutesParts["runs"];
  runCopies: RunCopyRoutesParts["runCopies"];
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
  approvals: ApprovalsPart;
  registry: RoutesRegistry;
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

export function createFunctions(parts: FunctionsParts): Functions {
  const { config, store, directory, eventIds, log, clock } = parts;
  const { now } = clock;
  const registry = new Registry(store);
  const onFault = (id: string, fault: string) => log.warn({ function: id, fault }, "a trigger's expression has no value for an event");
  const fanOut = new FanOut({ registry, runIds: createEventIdGenerator(), keyHash: store.storeKeyHash, onFault });
  const functionId = (no: FunctionNo) => registry.function(no)?.id ?? "unknown";
  const isArchived = (id: Environment["id"]) => directory.environment(id)?.archivedAt != null;
  const environmentName = (id: Environment["id"]) => directory.environment(id)?.name ?? String(id);
  const spans = parts.tracing && new RunSpans({ tracing: parts.tracing, functionId, environmentName, now });
  const traced = (event: NewEvent) => spans?.traced(event) ?? event;
  const plan: Functions["plan"] = (environmentId, event, at) => fanOut.plan(environmentId, traced(event), at);
  const isSubscribed = (id: Environment["id"], name: string) => registry.candidates(id, name).length > 0;
  const headersOf = (no: FunctionNo) => registry.function(no)?.app.headers ?? "inngest";
  const endEvents = createEndEvents({ functionId, headersOf, isSubscribed, plan, eventIds });
  const lease = () => executor.lease();
  const refuse: FunctionStartsParts["refuse"] = async (environmentId, { runNo, stepId }, error) => {
    await executor.change({ environmentId, no: runNo }, (state) => resolveStep(state, { id: stepId, ...failedResult(error) }, now()));
  };
  const starts = new FunctionStarts({ store, registry, fanOut, eventIds, lease, traced, isArchived, now, refuse });
  // Known once the service listens; without a public URL, links lead to this machine.
  let { port } = config;
  const ownUrl = () => config.publicUrl ?? `http://localhost:${port}`;
  const ask = { plan, eventIds, url: (id: string) => approvalUrl(ownUrl(), id, store.storeLinkToken(id)) };
  const executor: Executor = createFunctionExecutor({
    ...parts,
    registry,
    fanOut,
    functionId,
    isArchived,
    callsAtOnce: (id) => directory.environment(id)?.quotas.callsAtOnce ?? null,
    endEvents,
    starts,
    ask: (...asked) => askApproval(ask, ...asked),
    tracing: spans,
  });
  const holds = new PauseFunctions({
    store,
    registry,
    executor,
    now,
    cancel: (state) => cancelRun(state, now(), endEvents, "It was cancelled when its function was resumed."),
    onFault: (error) => log.warn({ err: error }, "held calls could not be read; this will be retried with the next change"),
  });
  const apps: SyncApps = new SyncApps({
    ...parts,
    registry,
    now,
    register: (home, response, environments) => sdk.registerInBand(home, response, environments),
    watched: { urls: config.appUrl, discovers: config.discover === "on", asksAgain: config.mode === "dev" },
  });
  const sdk: SdkResponses = createSdkResponses({ ...parts, registry, executor, sync: apps.sync, now });
  const inngest = createInngestResponses({ ...parts, registry, fanOut, executor, endEvents });
  const runs = runsOfRoutes({ store, registry, fanOut, executor, endEvents, now });
  followRefreshes({ registry, directory, executor, holds });

  return {
    plan,
    lease,
    take: (entries) => executor.take(entries),
    callsOf: (id) => executor.callsOf(id),
    waitingSince: () => executor.waitingSince(),
    functionsWaitingSince: () => executor.functionsWaitingSince(),
    sdk,
    inngest,
    cancelRun: runs.cancel,
    ...namesOfFunctions(registry),
    approvals: createApprovals({ store, plan, lease, eventIds, now, take: (entries) => executor.take(entries) }),
    ...storedWork({ store, plan, lease, eventIds, functionId, now, take: (entries) => executor.take(entries) }),
    runs,
    runCopies: {
      of: (run) => copyOfRun(store, run, functionId(run.functionNo)),
      start: (environment, copy) => startCopy({ store, registry, fanOut, executor, eventIds, now }, environment.id, copy),
    },
    jobStarts: {
      replay: (environmentId, event, id) => fanOut.replay(environmentId, event, id, now()),
      repeat: (run, event) => repeatedRun({ registry, fanOut, now }, run, event),
    },
    registry: registryOfRoutes({ registry, store, holds, apps }),
    async open() {
      await registry.refresh();
      await executor.recover();
    },
    async start(listened) {
      port = listened;
      await executor.start();
      inngest.start();
      apps.start(listened);
    },
    async stop() {
      // The executor begins no call from this moment on, whatever the others have to wait for.
      await Promise.all([executor.stop(config.drainTimeout), apps.stop(), inngest.stop(), holds.stop()]);
    },
  };
}

interface RefreshParts extends Pick<FunctionsParts, "directory"> {
  registry: Registry;
  executor: Executor;
  holds: PauseFunctions;
}

/** Changed functions, environments and quotas apply to work that waits. */
function followRefreshes({ registry, directory, executor, holds }: RefreshParts): void {
  registry.onRefresh((hasChanged) => {
    if (hasChanged) executor.refresh();
    holds.refresh();
  });
  let callQuotas = quotasOf(directory);
  directory.onRefresh(() => {
    holds.refresh();
    const changed = quotasOf(directory);
    if (changed !== callQuotas) executor.refresh();
    callQuotas = changed;
  });
}

/** The quotas on calls, to be compared. */
function quotasOf(directory: Pick<FunctionsParts["directory"], "environments">): string {
  return directory
    .environments()
    .map(({ id, quotas }) => `${id}:${quotas.callsAtOnce}`)
    .join(" ");
}

function namesOfFunctions(registry: Registry): Pick<Functions, "functionId" | "functionName" | "functionNos" | "subscribersOf"> {
  return {
    functionId: (no) => registry.function(no)?.id ?? "unknown",
    functionName: (id) => registry.nameOf(id) ?? id,
    functionNos: (environmentId, id) => functionNosOf(registry, environmentId, id),
    subscribersOf: (environmentId, name) =>
      registry.candidates(environmentId, name).flatMap(({ functionNo }) => {
        const known = registry.function(functionNo as FunctionNo);
        return known ? [{ id: known.id, name: known.name }] : [];
      }),
  };
}

interface StoredWorkParts extends Pick<Functions, "plan" | "lease" | "take" | "functionId"> {
  store: Store;
  eventIds: EventIdGenerator;
  now(): number;
}

/** Internal events and signals: stored, and what they start is taken by this node. */
function storedWork(parts: StoredWorkParts): Pick<Functions, "emit" | "signals" | "sendingRun"> {
  const { store, plan, lease, take, eventIds, functionId, now } = parts;
  return {
    async emit({ environmentId, name, dedupId, data }) {
      const at = now();
      const event = plan(environmentId, { id: eventIds.next(at), name, ts: at, dedupId, data, extras: null }, at);
      const { leased } = await store.eventAppend({ ...internalBatch(environmentId, at, [event]), lease: lease() });
      take(leased);
    },
    signals: {
      async send({ id: environmentId }, signal, data) {
        const value = `{"data":{"signal":${JSON.stringify(signal)},"data":${data}}}`;
        const { runId, leased } = await store.signalSend({ environmentId, signal, value, now: now(), lease: lease() });
        take(leased);
        return runId;
      },
    },
    async sendingRun(environmentId, runId) {
      const run = isEventId(runId) ? await store.runFind({ id: runId as string as RunId, environmentId }) : null;
      if (!run) return null;
      const { functionNo, eventSequence: sequence } = run;
      const trace = async () => (await store.eventAt({ environmentId, sequence }))?.trace ?? null;
      return { id: run.id, source: { kind: "function", id: functionId(functionNo) }, trace };
    },
  };
}
