/** What becomes of a job when a batch of its items was worked on. */

import { JOB_CHUNK_ITEMS, JOB_ERRORS_MAX, type Job, type JobAdvanceParams } from "../contract/index.ts";

export interface JobWrite {
  status: Job["status"];
  done: number;
  failed: number;
  errors: Job["errors"];
  startedAt: number;
  endedAt: number | null;
  /** Rows of items below this one are not needed any more. */
  chunksDone: number;
}

/** Null: the batch was not read from where the job is now, or the job has ended. */
export function advanceJob(job: Job, { after, worked, failures, now }: JobAdvanceParams): JobWrite | null {
  if (job.endedAt !== null || job.done !== after) return null;
  const done = job.done + worked;
  const isEnd = done >= job.total;
  return {
    status: isEnd ? "completed" : "running",
    done,
    failed: job.failed + failures.length,
    errors: [...job.errors, ...failures].slice(0, JOB_ERRORS_MAX),
    startedAt: job.startedAt ?? now,
    endedAt: isEnd ? now : null,
    chunksDone: isEnd ? Number.MAX_SAFE_INTEGER : Math.floor(done / JOB_CHUNK_ITEMS),
  };
}

/** Where an item stands: in which row, and at which place of it. */
export function itemPosition(index: number): { chunk: number; offset: number } {
  return { chunk: Math.floor(index / JOB_CHUNK_ITEMS), offset: index % JOB_CHUNK_ITEMS };
}
