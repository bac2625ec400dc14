/** Fan-out and execution, connected: what event-life.ts, the routes and service.ts need of functions. */

import { createEventIdGenerator, type EventIdGenerator, eventJson, Refusal, type RunId } from "@inlet/protocol";
import type { Logger } from "pino";
import type { FunctionsRoutesParts } from "./api/functions-routes.ts";
import type { RunsRoutesParts } from "./api/runs-routes.ts";
import type { SdkRoutesParts } from "./api/sdk-routes.ts";
import type { Config } from "./config/config.ts";
import { AppSync } from "./execute/call/app-sync.ts";
import { AppCaller } from "./execute/call/call-app.ts";
import { eventText, stepsText } from "./execute/call/call-body.ts";
import { isSuperseded } from "./execute/call/dispatch-id.ts";
import { Executor } from "./execute/executor.ts";
import { createBackoff } from "./execute/queue/backoff.ts";
import { decideCheckpoint } from "./execute/steps/decide-answer.ts";
import { createEndEvents } from "./execute/steps/end-events.ts";
import { readOperations } from "./execute/steps/operations.ts";
import { cancelRun, type EndEvents, resolveStep } from "./execute/steps/run-changes.ts";
import { type InvokeParts, readInvocation, readSleep, readWait } from "./execute/steps/step-parameters.ts";
import { FanOut, once } from "./fan-out/fan-out.ts";
import { limitsOfLane } from "./fan-out/lanes.ts";
import { registerApp } from "./fan-out/register-app.ts";
import { Registry } from "./fan-out/registry.ts";
import { FunctionStarts } from "./fan-out/starts/function-starts.ts";
import { eventValue, newWait, waitRules } from "./fan-out/waits.ts";
import type { Directory } from "./receive/directory.ts";
import type { ClaimedEntry, Environment, EventBatch, Lease, NewEvent, RunDetails, RunRules, Store } from "./store/contract/index.ts";

export interface Functions {
  /** Adds to an event what it starts. */
  plan(environmentId: Environment["id"], event: NewEvent, now: number): NewEvent;
  lease(): Lease;
  take(entries: readonly ClaimedEntry[]): void;
  sdk: SdkRoutesParts["sdk"];
  runs: RunsRoutesParts["runs"];
  registry: FunctionsRoutesParts["registry"];
  /** Before events are accepted. */
  open(): Promise<void>;
  /** Takes up what is in the queue. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface FunctionsParts {
  config: Config;
  store: Store;
  directory: Directory;
  eventIds: EventIdGenerator;
  defaultEnvironment: string;
  signingKey(): string | null;
  isSigned(bearer: string): boolean;
  log: Logger;
  now(): number;
}

/** The store needs these rules before there are functions; what tells of a run's end is known only then. */
export function createRunRules(endEvents: () => EndEvents): RunRules {
  return {
    ...waitRules,
    eventValue: eventJson,
    resolve: resolveStep,
    cancel: (state, now) => cancelRun(state, now, endEvents(), "An event cancelled it."),
  };
}

export function createFunctions(parts: FunctionsParts): Functions & { endEvents: EndEvents } {
  const { config, store, directory, eventIds, signingKey, log, now } = parts;
  const registry = new Registry(store);
  const runIds = createEventIdGenerator();
  const onFault = (functionId: string, fault: string) =>
    log.warn({ function: functionId, fault }, "a trigger's expression has no value for an event");
  const fanOut = new FanOut({ registry, runIds, onFault });
  const plan: Functions["plan"] = (environmentId, event, at) => fanOut.plan(environmentId, event, at);
  const functionId = (no: Parameters<Registry["function"]>[0]) => registry.function(no)?.id ?? "unknown";
  const isSubscribed = (id: Environment["id"], name: string) => registry.candidates(id, name).length > 0;
  const endEvents = createEndEvents({ functionId, isSubscribed, plan, eventIds });
  const caller = new AppCaller({ timeoutMs: config.callTimeout, connectionsMax: config.appCalls });
  const lease = () => executor.lease();
  const starts = new FunctionStarts({ store, registry, fanOut, eventIds, lease, now });
  const invokeParts: InvokeParts = {
    eventIds,
    functionId,
    newRun(environmentId, id, event, at) {
      const target = registry.functionWithId(environmentId, id);
      return target
        ? fanOut.newRun(
            target,
            once(() => eventValue(event)),
            at,
            at,
          )
        : null;
    },
  };
  const executor: Executor = new Executor({
    store,
    caller,
    functionOf(no) {
      const known = registry.function(no);
      if (!known) return undefined;
      const { app, uuid, config: settings } = known;
      return { app, uuid, url: settings.url, retries: settings.retries, finishMs: settings.timeouts.finishMs };
    },
    limitsOf: (lane) => limitsOfLane(registry, lane, config.appCalls),
    signingKey,
    backoff: createBackoff(config.retryInterval),
    endEvents,
    steps: {
      sleepUntil: readSleep,
      wait(operation, state, at, since) {
        const fields = readWait(operation, at);
        if (typeof fields === "string") return fields;
        const runEvent = once(() => eventValue(state.events()[0] as NewEvent));
        const wait = newWait({ kind: "event", stepId: operation.id, ...fields }, runEvent);
        return typeof wait === "string" ? wait : { ...wait, since };
      },
      invoke: (operation, state, at) => readInvocation(invokeParts, operation, state, at),
    },
    starts,
    log,
    now,
  });
  registry.onRefresh(() => executor.refresh());
  const sync = new AppSync({ caller, signingKey, now, newId: () => eventIds.next(now()) });

  async function environment(name: string | null, deployId: string | null): Promise<Environment | Refusal> {
    const asked = deployId === null ? undefined : sync.pending(deployId);
    const wanted = name ?? asked?.environment.name ?? parts.defaultEnvironment;
    const known = directory.environmentNamed(wanted);
    if (known?.archivedAt != null) return new Refusal("environment_not_found", `The environment "${wanted}" is archived.`);
    if (known && known.kind !== "shared") return known;
    if (!/^[A-Za-z0-9._/-]{1,128}$/.test(wanted) || ["production", "dev", "branch"].includes(wanted)) {
      return new Refusal("environment_not_found", `There is no environment "${wanted}", and an app cannot make one of that name.`);
    }
    await store.environmentInsert({ name: wanted, kind: "branch", createdAt: now(), bodyBytesMax: null });
    await directory.refresh();
    return directory.environmentNamed(wanted) as Environment;
  }

  const sdk: Functions["sdk"] = {
    isSigned: parts.isSigned,
    environment,
    async register({ environment: home, headers, body, sdk: version, framework, deployId }) {
      const newId = () => eventIds.next(now());
      const outcome = await registerApp(
        { store, registry, newId, now },
        { environmentId: home.id, headers, body, sdk: version, framework },
      );
      if (!(outcome instanceof Refusal) && deployId !== null) sync.registered(deployId, outcome.app);
      if (!(outcome instanceof Refusal))
        log.info({ app: outcome.app.name, environment: home.name, modified: outcome.modified }, "an app registered");
      return outcome;
    },
    async runEvents(id) {
      const context = await contextOf(id);
      return context && `[${context.events.map((event) => eventText(event, true)).join(",")}]`;
    },
    async runSteps(id) {
      const context = await contextOf(id);
      return context && stepsText(context, true);
    },
    async checkpoint(id, body) {
      const { steps, dispatch } = checkpointIn(body);
      if (!steps) return new Refusal("checkpoint_invalid", "The body must be an object whose `steps` are step operations.");
      const late = steps.find(({ op }) => !["step", "steprun", "stepfailed", "stepplanned", "none"].includes(op));
      if (late) return new Refusal("checkpoint_invalid", `A ${late.op} cannot be handed in while the call goes on.`);
      const run = await store.runFind({ id });
      if (!run) return new Refusal("run_not_found", `There is no run ${id}.`);
      let superseded = false;
      const kept = await executor.change(run.no, (state) => {
        superseded = dispatch !== null && isSuperseded(dispatch, state.entries);
        return superseded ? {} : decideCheckpoint(state, steps, now());
      });
      if (superseded) return new Refusal("call_superseded", `This call of the run ${id} was given up, and its function is called anew.`);
      return kept ? null : new Refusal("run_ended", `The run ${id} has ended already.`);
    },
  };

  async function contextOf(id: RunId) {
    const run = await store.runFind({ id });
    return run && store.runContext({ runNo: run.no });
  }

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
    cancel: (run) => executor.change(run.no, (state) => cancelRun(state, now(), endEvents, "It was cancelled by hand.")),
    rerun,
  };

  /** The function is run anew with the same event. */
  async function rerun(run: RunDetails): Promise<RunId | null> {
    const target = registry.function(run.functionNo);
    const event = await store.eventAt({ sequence: run.eventSequence });
    if (!target || target.isArchived || !event) return null;
    const at = now();
    const fresh = {
      ...fanOut.newRun(
        target,
        once(() => eventValue(event)),
        at,
        at,
      ),
      originalRunId: run.originalRunId ?? run.id,
    };
    const { handed } = await store.runStart({
      environmentId: run.environmentId,
      eventSequence: run.eventSequence,
      run: fresh,
      now: at,
      lease: lease(),
    });
    executor.take(handed);
    return fresh.id;
  }

  return {
    plan,
    endEvents,
    lease,
    take: (entries) => executor.take(entries),
    sdk,
    runs,
    registry: {
      apps: ({ id }) => registry.apps(id),
      functions: ({ id }) =>
        registry.functions(id).map(({ stored, app, config: settings }) => ({ stored, app, url: settings.url, config: settings.raw })),
      refresh: () => registry.refresh(),
      async sync(home, url) {
        const outcome = await sync.ask(home, url);
        if (typeof outcome !== "string") return outcome;
        await store.appFault({ environmentId: home.id, url, error: outcome });
        await registry.refresh();
        return outcome;
      },
    },
    async open() {
      await registry.refresh();
      await executor.recover();
    },
    start: () => executor.start(),
    stop: () => executor.stop(config.drainTimeout),
  };
}

/** The operations in what an SDK hands in, and which call they come from. */
function checkpointIn(body: string): { steps: ReturnType<typeof readOperations>; dispatch: string | null } {
  try {
    const { steps, qi_id: dispatch } = JSON.parse(body) as { steps?: unknown; qi_id?: unknown };
    return {
      steps: Array.isArray(steps) ? readOperations(JSON.stringify(steps)) : null,
      dispatch: typeof dispatch === "string" && dispatch !== "" ? dispatch : null,
    };
  } catch {
    return { steps: null, dispatch: null };
  }
}

export type { EventBatch };
