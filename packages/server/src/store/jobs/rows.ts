/** The rows of the jobs table, as both engines write and read them. */

import type { EnvironmentId, JobError, JobId, JobStatus } from "@inlet/protocol";
import type { Job, NewJob } from "../contract/index.ts";

export interface JobRow {
  job_id: string;
  environment_id: number;
  kind: string;
  filter: string;
  function_id: string | null;
  status: string;
  total: number;
  done: number;
  failed: number;
  rate: number;
  list_cursor: string | null;
  errors: string;
  report: string | null;
  tally: string;
  series: string | null;
  scheduled: number;
  created_at: number;
  started_at: number | null;
  ended_at: number | null;
  leased_by: string | null;
  leased_until: number;
}

/** What is written of a new job; all other columns have their defaults. */
export const NEW_JOB_COLUMNS = [
  "job_id",
  "environment_id",
  "kind",
  "filter",
  "function_id",
  "status",
  "total",
  "rate",
  "list_cursor",
  "created_at",
  "started_at",
  "ended_at",
  "leased_by",
  "leased_until",
  "series",
  "scheduled",
] as const satisfies readonly (keyof JobRow)[];

/** In the order of the columns. */
export function newJobValues(
  job: NewJob,
  { status, startedAt, endedAt }: Pick<Job, "status" | "startedAt" | "endedAt">,
): JobRow[keyof JobRow][] {
  const row: Pick<JobRow, (typeof NEW_JOB_COLUMNS)[number]> = {
    job_id: job.id,
    environment_id: job.environmentId,
    kind: job.kind,
    filter: job.filter,
    function_id: job.functionId,
    status,
    total: job.items.length,
    rate: job.rate,
    list_cursor: job.listCursor,
    created_at: job.createdAt,
    started_at: startedAt,
    ended_at: endedAt,
    leased_by: job.lease?.node ?? null,
    leased_until: job.lease?.until ?? 0,
    series: job.series,
    scheduled: job.isScheduled ? 1 : 0,
  };
  return NEW_JOB_COLUMNS.map((column) => row[column]);
}

export type LeasedJob = Job & { leasedBy: string | null };

export function toLeasedJob(row: JobRow): LeasedJob {
  return { ...toJob(row), leasedBy: row.leased_by };
}

export function toJob(row: JobRow): Job {
  return {
    id: row.job_id as JobId,
    environmentId: row.environment_id as EnvironmentId,
    kind: row.kind,
    filter: row.filter,
    functionId: row.function_id,
    status: row.status as JobStatus,
    total: row.total,
    done: row.done,
    failed: row.failed,
    rate: row.rate,
    listCursor: row.list_cursor,
    errors: JSON.parse(row.errors) as JobError[],
    report: row.report,
    tally: JSON.parse(row.tally) as Job["tally"],
    series: row.series,
    isScheduled: row.scheduled === 1,
    createdAt: row.created_at,
    startedAt: row.started_at,
    endedAt: row.ended_at,
  };
}
