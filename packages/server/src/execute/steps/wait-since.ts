/**
 * Since when events count for a wait: since the step before it ended. Which step that was follows from what the call could know: the
 * results it was given, those it handed in itself, and those its answer brings. A step that ended while the app worked, by its time,
 * by an event or in another call, is not the one before.
 *
 * A step that sends events may be answered before its own end is known here, so after one of these events count since it began,
 * which is when the step before it ended.
 */

import type { RunRecord, StepRecord } from "../../store/contract/index.ts";

type Step = Pick<StepRecord, "kind" | "endedAt">;

export interface WaitingCall {
  run: Pick<RunRecord, "startedAt" | "isParallel">;
  /** Of the run, when the answer is decided on. */
  steps: readonly (Step & Pick<StepRecord, "donePosition">)[];
  /** That the same answer brought. */
  ownSteps: readonly Step[];
  /** How many results the call was given. */
  stepsGiven: number;
  /** When the call began. */
  startedAt: number;
}

export function waitSince({ run, steps, ownSteps, stepsGiven, startedAt }: WaitingCall): number {
  const isHandedIn = ({ kind }: Step) => !run.isParallel && (kind === "run" || kind === "send" || kind === "wrap");
  const known = steps.filter((step) => step.donePosition !== null && (step.donePosition < stepsGiven || isHandedIn(step)));
  const ends = [...known, ...ownSteps].flatMap(({ kind, endedAt }) => (endedAt === null || kind === "send" ? [] : [endedAt]));
  return Math.max(run.startedAt ?? startedAt, ...ends);
}
