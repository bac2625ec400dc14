/**
 * Jobs: work on many items, in the background. The items are fixed when the job is made, and worked on in their order; `done` is the
 * cursor. What a batch of items starts is written in the transaction that moves the cursor, so no crash makes a start two or none.
 * A job is worked on by the node that has its lease; when the lease is over, another node goes on.
 */

import type { EnvironmentId, JobId } from "@inlet/protocol";
import type { NewRun } from "./new-runs.ts";

export const JOB_STATUSES = ["queued", "running", "completed", "cancelled", "failed"] as const;
export type JobStatus = (typeof JOB_STATUSES)[number];

/** What a job is about: the number of a run, the sequence of an event, or the id of a request. */
export type JobItem = number | string;

export interface JobError {
  /** The id of the item as people know it; null: the whole job. */
  item: string | null;
  message: string;
}

export interface NewJob {
  id: JobId;
  environmentId: EnvironmentId;
  kind: string;
  /** JSON text of an object: as it was given. */
  filter: string;
  /** The function it is limited to. */
  functionId: string | null;
  total: number;
  /** Items per second. */
  rate: number;
  createdAt: number;
}

export interface Job extends NewJob {
  status: JobStatus;
  /** Items worked on. */
  done: number;
  /** Those of them that failed. */
  failed: number;
  /** The first ones. */
  errors: readonly JobError[];
  startedAt: number | null;
  endedAt: number | null;
}

/** A run that an item of a job starts, for an event that is there already. */
export interface JobStart {
  eventSequence: number;
  run: NewRun;
}

export interface JobAdvanceParams {
  id: JobId;
  environmentId: EnvironmentId;
  /** Must still have the lease. */
  node: string;
  now: number;
  /** The lease is prolonged until then. */
  until: number;
  /** The cursor as it was when the batch was read: `done`. */
  after: number;
  /** How many items were worked on. */
  worked: number;
  failures: readonly JobError[];
  starts: readonly JobStart[];
}

/** How many items stand in one row. */
export const JOB_CHUNK_ITEMS = 500;
export const JOB_ERRORS_MAX = 10;

export interface JobStore {
  /** Keeps items of a job that is still being made: JOB_CHUNK_ITEMS of them, fewer only in the last chunk. */
  jobItemsInsert(params: { id: JobId; environmentId: EnvironmentId; chunk: number; items: readonly JobItem[] }): Promise<void>;
  /** The job is there with all its items, and can be claimed. One without items has completed. */
  jobInsert(job: NewJob): Promise<void>;
  jobGet(params: { environmentId: EnvironmentId; id: JobId }): Promise<Job | null>;
  /** Newest first. */
  jobList(params: {
    environmentId: EnvironmentId;
    limit: number;
    after?: JobId;
    status?: JobStatus;
  }): Promise<{ jobs: Job[]; next: JobId | null }>;
  /** Takes the lease of the oldest job that nobody has, or that this node has and is not among `except`. */
  jobClaim(params: { node: string; now: number; until: number; except: readonly JobId[] }): Promise<Job | null>;
  /** Items from the cursor on, at most `limit`; fewer at the end of a chunk. */
  jobItems(params: { id: JobId; environmentId: EnvironmentId; after: number; limit: number }): Promise<readonly JobItem[]>;
  /** The batch has its whole effect; the job as it is now. Null, and no effect: the lease is lost, or the job has ended. */
  jobAdvance(params: JobAdvanceParams): Promise<Job | null>;
  /** Null: there is no such job. A job that has ended stays as it is. */
  jobEnd(params: {
    environmentId: EnvironmentId;
    id: JobId;
    status: "cancelled" | "failed";
    now: number;
    error?: JobError;
  }): Promise<Job | null>;
  /** Removes jobs that ended at or before `endedUntil`, and items with an id below `abandonedUntil` of jobs that were never made; says how many. */
  jobExpireMany(params: { endedUntil: number; abandonedUntil: string; limit: number }): Promise<number>;
}
