/** A job as the REST API shows it: written by the service, read by the CLI and the dashboard. */

import type { DrillEntry } from "./drill-report.ts";

export const JOB_STATUSES = ["queued", "running", "completed", "cancelled", "failed"] as const;
export type JobStatus = (typeof JOB_STATUSES)[number];

export const JOB_KINDS = ["events.replay", "runs.rerun", "runs.cancel", "requests.replay", "events.erase"] as const;
/** Kinds that are started by a route of their own. */
export const OWN_ROUTE_JOB_KINDS = ["webhooks.drill", "webhooks.reconcile", "environments.move"] as const;
export type JobKindName = (typeof JOB_KINDS)[number] | (typeof OWN_ROUTE_JOB_KINDS)[number];

export interface JobError {
  /** The id of the item as shown to people; null: the whole job. */
  item: string | null;
  message: string;
}

/** What became of the runs that a job started. */
export interface JobRuns {
  completed: number;
  failed: number;
  cancelled: number;
  unfinished: number;
}

export interface JobView {
  id: string;
  kind: JobKindName;
  /** As given, or its hash. */
  filter: Readonly<Record<string, unknown>>;
  /** The function it is restricted to. */
  function: string | null;
  status: JobStatus;
  /** Grows while the job is queued and its items are collected. */
  total: number;
  /** Items processed. */
  done: number;
  /** How many of them failed. */
  failed: number;
  /** Maximum number of items per second. */
  rate: number;
  /** The first ten. */
  errors: readonly JobError[];
  createdAt: string;
  startedAt: string | null;
  endedAt: string | null;
}

/** A single job, with what lists leave out. */
export interface JobDetailsView extends JobView {
  /** What became of the runs that the job started; null for jobs that start none. */
  runs: JobRuns | null;
  /** Of a drill: one entry for each request sent so far. Null for jobs of other kinds. */
  report: readonly DrillEntry[] | null;
}
