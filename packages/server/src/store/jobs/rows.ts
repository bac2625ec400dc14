/** Converts a row of the jobs table, as both engines read it, to the contract's Job. */

import type { EnvironmentId, JobError, JobId, JobStatus } from "@inlet/protocol";
import type { Job } from "../contract/index.ts";

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
