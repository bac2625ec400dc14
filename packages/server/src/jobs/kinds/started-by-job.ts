/** A run that a job starts. */

import type { Job, NewRun } from "../../store/contract/index.ts";

/** Runs that events start within this time after it go first. */
const BEHIND_LIVE_MS = 600_000;

export function startedByJob({ id }: Job, run: NewRun): NewRun {
  return { ...run, jobId: id, rank: run.rank + BEHIND_LIVE_MS };
}
