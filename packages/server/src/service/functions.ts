/** Connects fan-out and execution: what event-life.ts, the routes and service.ts need of functions. */

import type { FunctionNo, RunNo } from "@inlet/protocol";
import { approvalUrl } from "../api/approvals/approval-url.ts";
import type { ApprovalsPart } from "../api/approvals/approvals-part.ts";
import type { RunCopyRoutesParts } from "../api/runs/run-copy-routes.ts";
import type { RunsRoutesParts } from "../api/runs/runs-routes.ts";
import type { SdkRoutesParts } from "../api/sdk/sdk-routes.ts";
import type { Executor } from "../execute/executor.ts";
import { askApproval } from "../execute/steps/approval-events.ts";
import { cancelRun, failedResult, resolveStep } from "../execute/steps/run-changes.ts";
import { Registry } from "../fan-out/registry.ts";
import { FunctionStarts, type FunctionStartsParts } from "../fan-out/starts/function-starts.ts";
import { markNeededUntil } from "../fan-out/starts/mark-needed-until.ts";
import { createInngestResponses, type InngestResponses } from "../flows/answer-inngest.ts";
import { createSdkResponses, type SdkResponses } from "../flows/answer-sdks.ts";
import { copyOfRun, startCopy } from "../flows/copy-run.ts";
import { createApprovals } from "../flows/decide-approvals.ts";
import { PauseFunctions } from "../flows/pause-functions.ts";
import { repeatedRun } from "../flows/rerun-run.ts";
import { SyncApps } from "../flows/sync-apps.ts";
import type {
  ClaimedEntry,
  Environment,
  ExpiredMark,
  Lease,
  NewEvent,
  NewRun,
  RunState,
  RunSummary,
  StoredEvent,
} from "../store/contract/index.ts";
import { createFunctionExecutor } from "./function-executor.ts";
import { createPlanning, type Planning } from "./function-planning.ts";
import { functionNosOf, type RoutesRegistry, registryOfRoutes, runsOfRoutes } from "./functions-of-routes.ts";
import type { FunctionsParts } from "./functions-parts.ts";
import { type StoredWork, storedWork } from "./stored-work.ts";

export interface Functions extends StoredWork {
  /** Adds to an event what it starts. */
  plan(environmentId: Environment["id"], event: NewEvent, now: number): NewEvent;
  lease(): Lease;
  take(entries: readonly ClaimedEntry[]): void;
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
  /** Because its event is to be erased: what it deferred does not start with the same content. False if the run has already ended. */
  cancelErased(run: { environmentId: Environment["id"]; no: RunNo }): Promise<boolean>;
  /** Functions of an environment with this id, including archived ones; null: all. */
  functionNos(environmentId: Environment["id"], functionId: string | null): FunctionNo[];
  /** What jobs start. */
  jobStarts: {
    replay(environmentId: Environment["id"], event: StoredEvent, functionId: string | null): NewRun[];
    repeat(run: RunSummary, event: StoredEvent): NewRun | null;
  };
  approvals: ApprovalsPart;
  registry: RoutesRegistry;
  /** Until when a mark is needed by the rule that its function has now. */
  markNeededUntil(mark: ExpiredMark): number;
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
  const { config, store, eventIds } = parts;
  const { now } = parts.clock;
  const registry = new Registry(store);
  const names = namesOfFunctions(registry);
  const planning = createPlanning({ ...parts, registry, functionId: names.functionId });
  const { fanOut, plan, endEvents } = planning;
  // Known once the service listens; without a public URL, links lead to this machine.
  let { port } = config;
  const ownUrl = () => config.publicUrl ?? `http://localhost:${port}`;
  const executor = createExecution({ ...parts, ...planning, registry, functionId: names.functionId, ownUrl });
  const take: Functions["take"] = (entries) => executor.take(entries);
  const lease = () => executor.lease();
  const holds = createHolds({ ...parts, registry, executor, endEvents });
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
  followRefreshes({ ...parts, registry, executor, holds });

  return {
    plan,
    lease,
    take,
    callsOf: (id) => executor.callsOf(id),
    waitingSince: () => executor.waitingSince(),
    functionsWaitingSince: () => executor.functionsWaitingSince(),
    sdk,
    inngest,
    cancelErased: (run) => executor.change(run, (state) => cancelRun(withoutDeferred(state), now(), endEvents, "Its event is erased.")),
    ...names,
    approvals: createApprovals({ store, plan, lease, eventIds, now, take }),
    ...storedWork({ store, plan, lease, eventIds, functionId: names.functionId, now, take }),
    runs,
    ...startsAgain({ store, registry, fanOut, executor, eventIds, functionId: names.functionId, now }),
    registry: registryOfRoutes({ registry, store, holds, apps }),
    markNeededUntil: (mark) => markNeededUntil(mark, registry.function(mark.functionNo)?.config),
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

interface ExecutionParts extends FunctionsParts, Planning {
  registry: Registry;
  functionId(no: FunctionNo): string;
  /** Where links of approvals lead. */
  ownUrl(): string;
}

/** The executor, with the starts that wait for a decision: each needs the other. */
function createExecution(parts: ExecutionParts): Executor {
  const { store, directory, registry, fanOut, traced, plan, eventIds, ownUrl } = parts;
  const { now } = parts.clock;
  const isArchived = (id: Environment["id"]) => directory.environment(id)?.archivedAt != null;
  const refuse: FunctionStartsParts["refuse"] = async (environmentId, { runNo, stepId }, error) => {
    await executor.change({ environmentId, no: runNo }, (state) => resolveStep(state, { id: stepId, ...failedResult(error) }, now()));
  };
  const lease = () => executor.lease();
  const ask = { plan, eventIds, url: (id: string) => approvalUrl(ownUrl(), id, store.storeLinkToken(id)) };
  const executor: Executor = createFunctionExecutor({
    ...parts,
    isArchived,
    callsAtOnce: (id) => directory.environment(id)?.quotas.callsAtOnce ?? null,
    starts: new FunctionStarts({ store, registry, fanOut, eventIds, lease, traced, isArchived, now, refuse }),
    ask: (...asked) => askApproval(ask, ...asked),
    tracing: parts.spans,
  });
  return executor;
}

interface HoldsParts extends FunctionsParts, Pick<Planning, "endEvents"> {
  registry: Registry;
  executor: Executor;
}

function createHolds({ store, registry, executor, endEvents, log, clock: { now } }: HoldsParts): PauseFunctions {
  return new PauseFunctions({
    store,
    registry,
    executor,
    now,
    cancel: (state) => cancelRun(state, now(), endEvents, "It was cancelled when its function was resumed."),
    onFault: (error) => log.warn({ err: error }, "held calls could not be read; this will be retried with the next change"),
  });
}

type StartsAgainParts = Parameters<typeof startCopy>[0] & Pick<Functions, "functionId">;

/** Runs that are started again: as copies of other runs, and by jobs. */
function startsAgain(parts: StartsAgainParts): Pick<Functions, "runCopies" | "jobStarts"> {
  const { store, fanOut, functionId, now } = parts;
  return {
    runCopies: {
      of: (run) => copyOfRun(store, run, functionId(run.functionNo)),
      start: (environment, copy) => startCopy(parts, environment.id, copy),
    },
    jobStarts: {
      replay: (environmentId, event, id) => fanOut.replay(environmentId, event, id, now()),
      repeat: (run, event) => repeatedRun(parts, run, event),
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

function withoutDeferred(state: RunState): RunState {
  return { ...state, steps: state.steps.filter(({ kind }) => kind !== "defer") };
}
