/**
 * Since when events count for a wait: since the step before it ended. A step that sends events may be answered before its own end is
 * known here, so after one of these they count since it began, which is when the step before it ended.
 */

import type { RunRecord, StepRecord } from "../../store/contract/index.ts";

type EndedStep = Pick<StepRecord, "kind" | "endedAt">;

/** `callStartedAt` counts for a run whose first call this is. */
export function waitSince({ startedAt }: Pick<RunRecord, "startedAt">, steps: readonly EndedStep[], callStartedAt: number): number {
  const begun = startedAt ?? callStartedAt;
  const ended = steps
    .filter((step): step is EndedStep & { endedAt: number } => step.endedAt !== null)
    .sort((one, other) => other.endedAt - one.endedAt);
  return ended.find(({ kind }) => kind !== "send")?.endedAt ?? begun;
}
