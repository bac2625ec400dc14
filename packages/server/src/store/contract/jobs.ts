/**
 * Jobs: work on many items, in the background. First the items are fixed: the list they are entries of is walked, newest first, and each
 * page is written with the cursor of the list. Then they are worked on, oldest first; `done` is the cursor. What a batch of items starts
 * is written in the transaction that moves the cursor, so no crash makes a start two or none.
 * A job is worked on by the node that has its lease; when the lease is over, another node goes on.
 */

import type { EnvironmentId, JobError, JobId, JobStatus } from "@inlet/protocol";
import type { NewRun } from "./new-runs.ts";

export type { JobError } from "@inlet/protocol";

/** What a job is about: the number of a run, the sequence of an event, or the id of a request. */
export type JobItem = number | string;

interface JobFacts {
  id: JobId;
  environmentId: EnvironmentId;
  kind: string;
  /** JSON text of an object: as it was given. */
  filter: string;
  /** The function it is limited to. */
  functionId: string | null;
  /** Items per second. */
  rate: number;
  createdAt: number;
  /** Where the walk over the list goes on; null: all items are fixed. */
  listCursor: string | null;
}

export interface NewJob extends JobFacts {
  /** Those of the first page, newest first. */
  items: readonly JobItem[];
  /** Who goes on with the walk; null: whoever claims it. */
  lease: { node: string; until: number } | null;
}

export interface Job extends JobFacts {
  /** Queued while its items are fixed. */
  status: JobStatus;
  /** Items fixed so far. */
  total: number;
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
  /** How many items were processed. */
  worked: number;
  failures: readonly JobError[];
  starts: readonly JobStart[];
}

/** A page of the list. */
export interface JobItemsAddParams {
  id: JobId;
  environmentId: EnvironmentId;
  /** Must still have the lease. */
  node: string;
  now: number;
  /** The lease is prolonged until then. */
  until: number;
  /** `total`, as it was when the page was read. */
  after: number;
  items: readonly JobItem[];
  listCursor: string | null;
}

export const JOB_ERRORS_MAX = 10;

export interface JobStore {
  /** The job and its first items. One whose list is empty has completed. */
  jobInsert(job: NewJob): Promise<Job>;
  /** Adds the items of one page; the job as it is now. Null, and no effect: the lease is lost, the job has ended, or the page is there already. */
  jobItemsAdd(params: JobItemsAddParams): Promise<Job | null>;
  jobGet(params: { environmentId: EnvironmentId; id: JobId }): Promise<Job | null>;
  /** Newest first. */
  jobList(params: {
    environmentId: EnvironmentId;
    limit: number;
    after?: JobId;
    status?: JobStatus;
  }): Promise<{ jobs: Job[]; next: JobId | null }>;
  /** Takes the lease of the oldest job that nobody has, or that this node has and is not among `except`. It is running if its items are fixed. */
  jobClaim(params: { node: string; now: number; until: number; except: readonly JobId[] }): Promise<Job | null>;
  /** The items that were fixed last before the position `before`, last one first: at most `limit`, fewer at the end of a page. */
  jobItems(params: { id: JobId; environmentId: EnvironmentId; before: number; limit: number }): Promise<readonly JobItem[]>;
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
  /** Removes jobs that ended at or before `endedUntil`; says how many. Their items went when they ended. */
  jobExpireMany(params: { endedUntil: number; limit: number }): Promise<number>;
}
