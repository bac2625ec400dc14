/** Results an SDK hands in while its call goes on. They count even if the call never ends. */

import type { RunChange, RunError, RunState, StepWrite } from "../../store/contract/index.ts";
import { deferredSteps } from "./deferred.ts";
import { errorValue, isDeferred, isResult, type Operation, runKind, stepTimes } from "./operations.ts";
import { overLimit } from "./run-limits.ts";

/** Whether the call that hands something in was given up: after a crash or a timeout its function is called anew, under another id. */
export function isSuperseded(callId: string, { entries }: RunState): boolean {
  return !entries.some(({ leaseId }) => leaseId === callId);
}

export interface CheckpointOutcome {
  change: RunChange;
  /** Why nothing of it is kept. */
  refused: RunError | null;
}

/** A result that would make the run too large is refused: the SDK then answers its call with it, which ends the run. */
export function decideCheckpoint(state: RunState, operations: readonly Operation[], now: number): CheckpointOutcome {
  const attempt = state.entries.find(({ kind, stepId }) => kind === "call" && stepId === null)?.attempt ?? 0;
  const known = new Set(state.steps.filter(({ endedAt }) => endedAt !== null).map(({ id }) => id));
  const steps = operations
    .filter((operation) => isResult(operation) && !known.has(operation.id))
    .map((operation, index) =>
      handedIn(operation, index === 0 ? attempt : 0, { from: state.run.startedAt ?? state.run.createdAt, to: now }),
    );
  const deferred = deferredSteps(state.steps, operations.filter(isDeferred), now);
  if (typeof deferred !== "string") steps.push(...deferred);
  const refused = overLimit(state, steps);
  // An attempt counts for one step: after this one they are counted anew.
  return refused ? { change: { entry: "keep" }, refused } : { change: { steps, entry: "reset-attempt" }, refused: null };
}

/** The call began at some time between `from` and `to`, which is now. */
function handedIn(operation: Operation, attempt: number, call: { from: number; to: number }): StepWrite {
  const isFailed = operation.op === "stepfailed";
  return {
    ...{
      id: operation.id,
      kind: runKind(operation),
      name: operation.displayName,
      status: isFailed ? "failed" : "completed",
    },
    ...(operation.ran ? stepTimes(operation, call) : { startedAt: call.to, endedAt: call.to }),
    ...{ attempts: attempt + 1, until: null, detail: null },
    value: isFailed ? errorValue(operation) : `{"data":${operation.data}}`,
  };
}
