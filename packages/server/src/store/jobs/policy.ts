/** How a job changes when a page of its items was collected, and when a batch of them was processed. */

import type { JobError } from "@inlet/protocol";
import {
  JOB_ERRORS_MAX,
  type Job,
  type JobAdvanceParams,
  type JobItem,
  type JobItemsAddParams,
  type JobStart,
  type NewJob,
} from "../contract/index.ts";

type JobEnd = Pick<Job, "status" | "startedAt" | "endedAt">;

export function beginJob({ items, listCursor, createdAt }: NewJob): JobEnd {
  return afterPage(items.length, listCursor, createdAt);
}

/** Null: the page does not follow the current cursor, or the job has ended. */
export function addJobItems(
  job: Job,
  { after, items, listCursor, error, now, staysOpen = false }: JobItemsAddParams,
): (JobEnd & Pick<Job, "total" | "errors">) | null {
  if (job.endedAt !== null || job.listCursor === null || job.total !== after) return null;
  const total = job.total + items.length;
  return { ...afterPage(total, listCursor, now, staysOpen), total, errors: withError(job, error) };
}

/** A job with an empty list has completed, unless a further step follows. */
function afterPage(total: number, listCursor: string | null, now: number, staysOpen = false): JobEnd {
  const isEnd = total === 0 && listCursor === null && !staysOpen;
  return { status: isEnd ? "completed" : "queued", startedAt: isEnd ? now : null, endedAt: isEnd ? now : null };
}

export interface JobWrite extends JobEnd {
  done: number;
  failed: number;
  errors: Job["errors"];
  report: string | null;
  tally: Job["tally"];
  startedAt: number;
  /** Items from this position on are no longer needed. */
  itemsLeft: number;
}

/** Null: the batch does not follow the current cursor, or the job has ended. */
export function advanceJob(job: Job, params: JobAdvanceParams): JobWrite | null {
  const { after, worked, failures, tally = {}, now, report, staysOpen = false } = params;
  if (job.endedAt !== null || job.listCursor !== null || job.done !== after) return null;
  const done = job.done + worked;
  const isEnd = done >= job.total && !staysOpen;
  return {
    status: isEnd ? "completed" : "running",
    done,
    failed: job.failed + failures.length,
    errors: [...job.errors, ...failures].slice(0, JOB_ERRORS_MAX),
    report: report ?? job.report,
    tally: sumOf(job.tally, tally),
    startedAt: job.startedAt ?? now,
    endedAt: isEnd ? now : null,
    itemsLeft: job.total - done,
  };
}

function sumOf(known: Job["tally"], added: Job["tally"]): Job["tally"] {
  const sum = { ...known };
  for (const [name, count] of Object.entries(added)) sum[name] = (sum[name] ?? 0) + count;
  return sum;
}

/** What is left of a batch, if of the events of its starts only these are stored. Each item without its event is one failure. */
export function advanceStored(params: JobAdvanceParams, stored: ReadonlySet<number>): JobAdvanceParams {
  const isStored = ({ eventSequence }: JobStart) => stored.has(eventSequence);
  const itemOf = ({ eventSequence, run }: JobStart) => `${eventSequence} ${run.originalRunId ?? ""}`;
  const removed = new Set(params.starts.filter((start) => !isStored(start)).map(itemOf));
  const failures = [...removed].map(() => ({ item: null, message: "The event has been removed." }));
  return { ...params, starts: params.starts.filter(isStored), failures: [...params.failures, ...failures] };
}

/** The errors of a job, with one more; the first are kept. */
export function withError({ errors }: Job, error: JobError | undefined): JobError[] {
  return [...errors, ...(error ? [error] : [])].slice(0, JOB_ERRORS_MAX);
}

/** `row` contains the items from `position` on, as a JSON array. The last ones before `before`, last one first. */
export function lastItems(row: { position: number; items: string } | undefined, before: number, limit: number): JobItem[] {
  if (!row) return [];
  const items = (JSON.parse(row.items) as JobItem[]).slice(0, before - row.position);
  return items.slice(-limit).reverse();
}
