/**
 * From which time on a wait sees events: from the end of the step before it. Which step that was is determined by what the call could
 * know: the results it included, its own checkpoints, and the results in its response. A step that ended during the call, by
 * timeout, by an event or in another call, is not the one before.
 *
 * A step that sends events may receive a reply before its own end is stored, so after such a step, events count from its start,
 * which is when the step before it ended.
 */

import type { RunRecord, StepRecord } from "../../store/contract/index.ts";

type Step = Pick<StepRecord, "kind" | "endedAt">;

export interface WaitingCall {
  run: Pick<RunRecord, "startedAt" | "isParallel">;
  /** Of the run, when the response is processed. */
  steps: readonly (Step & Pick<StepRecord, "donePosition">)[];
  /** Steps in the same response. */
  ownSteps: readonly Step[];
  /** How many results the call included. */
  stepsGiven: number;
  /** The call was told to run no step itself. The run may have left its parallel part by the time of the response. */
  isPlanning: boolean;
  /** When the call began. */
  startedAt: number;
}

export function waitSince({ run, steps, ownSteps, stepsGiven, isPlanning, startedAt }: WaitingCall): number {
  const isCheckpointed = ({ kind }: Step) => !isPlanning && !run.isParallel && (kind === "run" || kind === "send" || kind === "wrap");
  const known = steps.filter((step) => step.donePosition !== null && (step.donePosition < stepsGiven || isCheckpointed(step)));
  const ends = [...known, ...ownSteps].flatMap(({ kind, endedAt }) => (endedAt === null || kind === "send" ? [] : [endedAt]));
  return Math.max(run.startedAt ?? startedAt, ...ends);
}
