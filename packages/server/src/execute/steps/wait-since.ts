/**
 * Since when events count for a wait: since the step before it ended. Which step that was follows from what the call could know: a
 * step that ended while the app worked, by its time, by an event or in another call, is not the one before.
 *
 * A step that sends events may be answered before its own end is known here, so after one of these events count since it began,
 * which is when the step before it ended.
 */

import type { RunRecord, StepRecord } from "../../store/contract/index.ts";

type Step = Pick<StepRecord, "kind" | "endedAt">;

export interface WaitingCall {
  run: Pick<RunRecord, "startedAt" | "isParallel">;
  /** Of the run, when the answer is decided on. */
  steps: readonly Step[];
  /** That the same answer brought. */
  ownSteps: readonly Step[];
  /** When the call began. */
  startedAt: number;
}

export function waitSince({ run, steps, ownSteps, startedAt }: WaitingCall): number {
  const isCheckpoint = ({ kind }: Step) => !run.isParallel && (kind === "run" || kind === "send");
  const known = steps.filter((step) => step.endedAt !== null && (step.endedAt <= startedAt || isCheckpoint(step)));
  const ends = [...known, ...ownSteps].flatMap(({ kind, endedAt }) => (endedAt === null || kind === "send" ? [] : [endedAt]));
  return Math.max(run.startedAt ?? startedAt, ...ends);
}
