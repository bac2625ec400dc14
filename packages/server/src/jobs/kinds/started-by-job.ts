/** A run that a job starts. */

import { BEHIND_LIVE_MS, type Job, type NewRun, RANK_SHIFT_MAX_MS } from "../../store/contract/index.ts";

export function startedByJob({ id }: Job, run: NewRun): NewRun {
  return { ...run, jobId: id, rank: Math.min(run.rank + BEHIND_LIVE_MS, run.dueAt + RANK_SHIFT_MAX_MS) };
}
