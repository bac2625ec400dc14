/** A run that a job starts. */

import { type Job, type NewRun, RANK_SHIFT_MAX_MS } from "../../store/contract/index.ts";

/** Runs that events start within this time after it go first. */
const BEHIND_LIVE_MS = 600_000;

export function startedByJob({ id }: Job, run: NewRun): NewRun {
  return { ...run, jobId: id, rank: Math.min(run.rank + BEHIND_LIVE_MS, run.dueAt + RANK_SHIFT_MAX_MS) };
}
