/** Checkpoints: results that an SDK sends while its call is in progress. They are stored even if the call never ends. */

import type { RunChange, RunContext, RunError, RunState, StepWrite } from "../../store/contract/index.ts";
import { deferredSteps } from "./deferred.ts";
import { endOfSteps, errorValue, isDeferred, isResult, type Operation, runKind, stepTimes } from "./operations.ts";
import { overLimit } from "./run-limits.ts";

/** Whether the call that sent the checkpoint was abandoned: after a crash or a timeout, the function is called again under another id. */
export function isSuperseded(callId: string, { entries }: RunState): boolean {
  return !entries.some(({ leaseId }) => leaseId === callId);
}

export interface CheckpointOutcome {
  change: RunChange;
  /** Why nothing of it is stored. */
  refused: RunError | null;
  /** Nothing of it is stored yet, since a step has a result already: it may be another one. */
  isRepeated: boolean;
}

/**
 * Whether a step is known to have another result: something between delivered the call twice, and the other execution was first. The
 * function must not continue with a result that the run does not have. Refused, the SDK returns it as its response, and is called again
 * with the one that counts.
 */
export function hasOtherResult(known: RunContext["steps"], operation: Operation): boolean {
  return isResult(operation) && known.some(({ id, value }) => id === operation.id && value !== resultOf(operation));
}

/**
 * A result that would make the run too large is refused: the SDK then returns it as its response, which ends the run. `mayRepeat`: steps
 * that have a result are known to have this one, as when an SDK repeats its request.
 */
export function decideCheckpoint(
  state: RunState,
  operations: readonly Operation[],
  now: number,
  { mayRepeat }: { mayRepeat: boolean },
): CheckpointOutcome {
  const known = new Set(state.steps.filter(({ endedAt }) => endedAt !== null).map(({ id }) => id));
  const isRepeated = operations.some((operation) => isResult(operation) && known.has(operation.id));
  if (isRepeated && !mayRepeat) return { change: { entry: "keep" }, refused: null, isRepeated };
  // The SDK runs one step after the other.
  let from = endOfSteps(state.steps, state.run.startedAt ?? state.run.createdAt);
  const steps = operations
    .filter((operation) => isResult(operation) && !known.has(operation.id))
    .map((operation) => {
      const failed = state.steps.find(({ id }) => id === operation.id)?.attempts ?? 0;
      const step = checkpointedStep(operation, failed + 1, { from: Math.min(from, now), to: now });
      from = endOfSteps([step], from);
      return step;
    });
  const deferred = deferredSteps(state.steps, operations.filter(isDeferred), now);
  if (typeof deferred !== "string") steps.push(...deferred);
  const refused = overLimit(state, steps);
  // Attempts are counted per step: after this step the count is reset.
  if (refused) return { change: { entry: "keep" }, refused, isRepeated: false };
  return { change: { steps, entry: "reset-attempt" }, refused: null, isRepeated: false };
}

/** The step began after `from`, and `to` is now. */
function checkpointedStep(operation: Operation, attempts: number, call: { from: number; to: number }): StepWrite {
  const isFailed = operation.op === "stepfailed";
  return {
    id: operation.id,
    kind: runKind(operation),
    name: operation.displayName,
    status: isFailed ? "failed" : "completed",
    ...(operation.ran ? stepTimes(operation, call) : { startedAt: call.to, endedAt: call.to }),
    attempts,
    until: null,
    detail: null,
    value: resultOf(operation),
  };
}

/** As it is stored. */
function resultOf(operation: Operation): string {
  return operation.op === "stepfailed" ? errorValue(operation) : `{"data":${operation.data}}`;
}
