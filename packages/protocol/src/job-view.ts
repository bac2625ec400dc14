/** A job as the REST API shows it: what the service writes, and the command line and the dashboard read. */

export const JOB_STATUSES = ["queued", "running", "completed", "cancelled", "failed"] as const;
export type JobStatus = (typeof JOB_STATUSES)[number];

export const JOB_KINDS = ["events.replay", "runs.rerun", "runs.cancel", "requests.replay", "events.erase"] as const;
export type JobKindName = (typeof JOB_KINDS)[number];

export interface JobError {
  /** The id of the item as people know it; null: the whole job. */
  item: string | null;
  message: string;
}

export interface JobView {
  id: string;
  kind: JobKindName;
  /** As it was given, or its hash. */
  filter: Readonly<Record<string, unknown>>;
  /** The function it is limited to. */
  function: string | null;
  status: JobStatus;
  /** Grows while the job is queued and its items are found. */
  total: number;
  /** Items worked on. */
  done: number;
  /** Those of them that failed. */
  failed: number;
  /** Items per second, at most. */
  rate: number;
  /** The first ten. */
  errors: readonly JobError[];
  createdAt: string;
  startedAt: string | null;
  endedAt: string | null;
}
