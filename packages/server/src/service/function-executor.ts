/** The executor, with what it needs to know of functions: their registration, their limits, and who counts what happens. */

import { createEventIdGenerator, type EventIdGenerator, type FunctionNo } from "@inlet/protocol";
import { Executor, type ExecutorParts } from "../execute/executor.ts";
import { createBackoff } from "../execute/queue/backoff.ts";
import { invokedFunction, readInvocation, readSleep, readWait } from "../execute/steps/step-parameters.ts";
import { type FanOut, once } from "../fan-out/fan-out.ts";
import { environmentOfLane, gateOfLane, limitedLane, rulesOfLane } from "../fan-out/lanes.ts";
import type { Registry } from "../fan-out/registry.ts";
import { eventValue, newWait } from "../fan-out/waits.ts";
import { type Environment, functionSubject, type NewEvent } from "../store/contract/index.ts";
import type { FunctionsParts } from "./functions-parts.ts";

export interface FunctionExecutorParts
  extends Pick<FunctionsParts, "config" | "store" | "caller" | "signing" | "activity" | "usage" | "liveLog" | "metrics" | "log" | "clock">,
    Pick<ExecutorParts, "endEvents" | "starts" | "tracing">,
    Pick<ExecutorParts["steps"], "ask"> {
  registry: Registry;
  fanOut: FanOut;
  eventIds: EventIdGenerator;
  functionId(no: FunctionNo): string;
  isArchived(environmentId: Environment["id"]): boolean;
  /** The quota of an environment; null: none. */
  callsAtOnce(environmentId: Environment["id"]): number | null;
}

export function createFunctionExecutor(parts: FunctionExecutorParts): Executor {
  const { config, registry, store, caller, signing, callsAtOnce, endEvents, starts, tracing, log, clock } = parts;
  return new Executor({
    store,
    caller,
    functionOf: (no) => calledFunction(parts, no),
    refreshFunctions: () => registry.refresh(),
    rulesOf: (lane) => rulesOfLane(registry, lane, { perApp: config.appCalls, ofEnvironment: callsAtOnce }),
    limitedLane({ functionNo, lane }) {
      const known = registry.function(functionNo);
      return known ? limitedLane(known, lane) : null;
    },
    gateOf: (lane) => gateOfLane(registry, lane),
    environmentOf: (lane) => environmentOfLane(registry, lane),
    prefetch: config.queuePrefetch,
    leaseMs: config.lease,
    leaseIds: createEventIdGenerator(),
    signing,
    backoff: createBackoff(config.retryInterval),
    endEvents,
    steps: stepReaders(parts),
    starts,
    ...observers(parts),
    tracing,
    log,
    clock,
  });
}

function calledFunction({ registry, isArchived }: FunctionExecutorParts, no: FunctionNo): ReturnType<ExecutorParts["functionOf"]> {
  const known = registry.function(no);
  if (!known) return undefined;
  const { app, uuid, config, stored } = known;
  const { url, retries, timeouts, ordering } = config;
  const holdsOrder = ordering?.onFailure === "hold" && !known.isArchived;
  return { app, uuid, url, retries, timeouts, holdsOrder, isPaused: stored.pausedAt !== null || isArchived(known.environmentId) };
}

function stepReaders({ registry, fanOut, eventIds, functionId, ask }: FunctionExecutorParts): ExecutorParts["steps"] {
  const invokeParts: Parameters<typeof readInvocation>[0] = {
    eventIds,
    functionId,
    start(environmentId, id, event, at) {
      const target = registry.functionWithId(environmentId, id);
      return target ? fanOut.begin(target, event, at, at) : null;
    },
  };
  return {
    sleepUntil: readSleep,
    wait(operation, state, since, at) {
      const fields = readWait(operation, at);
      if (typeof fields === "string") return fields;
      const runEvent = once(() => eventValue(state.events()[0] as NewEvent));
      return newWait({ kind: "event", stepId: operation.id, since, ...fields }, runEvent);
    },
    invokesUnknown(operation, environmentId) {
      const id = invokedFunction(operation);
      return id !== null && !registry.functionWithId(environmentId, id);
    },
    invoke: (operation, state, at) => readInvocation(invokeParts, operation, state, at),
    ask,
  };
}

function observers({
  activity,
  usage,
  liveLog,
  metrics,
  functionId,
}: FunctionExecutorParts): Pick<ExecutorParts, "onStart" | "onEnd" | "onCall"> {
  return {
    onStart({ environmentId, functionNo }) {
      metrics?.runStarted(environmentId, functionNo);
    },
    onEnd(run, end) {
      const { environmentId, functionNo, id } = run;
      if (end.status === "completed") activity.note({ environmentId, kind: "function", subject: functionId(functionNo) });
      liveLog?.ended(functionId(functionNo), id, end);
      metrics?.runEnded(run, end);
    },
    onCall(entry, result) {
      metrics?.called(entry, result);
      usage.note(entry.environmentId, { kind: "function", id: functionSubject(entry.functionNo) }, { calls: 1 });
    },
  };
}
