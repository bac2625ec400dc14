/** Checkpoints: results that an SDK sends while its call is in progress. They are stored even if the call never ends. */

import type { RunChange, RunError, RunState, StepWrite } from "../../store/contract/index.ts";
import { deferredSteps } from "./deferred.ts";
import { errorValue, isDeferred, isResult, type Operation, runKind, stepTimes } from "./operations.ts";
import { overLimit } from "./run-limits.ts";

/** Whether the call that sent the checkpoint was abandoned: after a crash or a timeout, the function is called again under another id. */
export function isSuperseded(callId: string, { entries }: RunState): boolean {
  return !entries.some(({ leaseId }) => leaseId === callId);
}

export interface CheckpointOutcome {
  change: RunChange;
  /** Why nothing of it is stored. */
  refused: RunError | null;
}

/** A result that would make the run too large is refused: the SDK then returns it as its response, which ends the run. */
export function decideCheckpoint(state: RunState, operations: readonly Operation[], now: number): CheckpointOutcome {
  const attempt = state.entries.find(({ kind, stepId }) => kind === "call" && stepId === null)?.attempt ?? 0;
  const known = new Set(state.steps.filter(({ endedAt }) => endedAt !== null).map(({ id }) => id));
  const steps = operations
    .filter((operation) => isResult(operation) && !known.has(operation.id))
    .map((operation, index) =>
      checkpointedStep(operation, index === 0 ? attempt : 0, { from: state.run.startedAt ?? state.run.createdAt, to: now }),
    );
  const deferred = deferredSteps(state.steps, operations.filter(isDeferred), now);
  if (typeof deferred !== "string") steps.push(...deferred);
  const refused = overLimit(state, steps);
  // Attempts are counted per step: after this step the count is reset.
  return refused ? { change: { entry: "keep" }, refused } : { change: { steps, entry: "reset-attempt" }, refused: null };
}

/** The call began between `from` and `to`, which is now. */
function checkpointedStep(operation: Operation, attempt: number, call: { from: number; to: number }): StepWrite {
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
