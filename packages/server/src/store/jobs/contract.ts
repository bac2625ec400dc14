/**
 * Jobs: work on many items, in the background. First the items are collected: the list is read, newest first, and each page of items is
 * written together with the cursor of the list. Then they are processed, oldest first; `done` is the cursor. What a batch of items starts
 * is written in the transaction that moves the cursor, so a crash neither repeats nor loses a start.
 * A job is processed by the node that holds its lease; when the lease expires, another node continues.
 */

import type { EnvironmentId, JobError, JobId, JobStatus } from "@inlet/protocol";
import type { NewRun } from "../runs/contract/new-runs.ts";

export type { JobError } from "@inlet/protocol";

/** The subject of an item: the number of a run, the sequence number of an event, or the id of a request. */
export type JobItem = number | string;

interface JobFacts {
  id: JobId;
  environmentId: EnvironmentId;
  kind: string;
  /** JSON text of an object, as given. */
  filter: string;
  /** The function it is restricted to. */
  functionId: string | null;
  /** Items per second. */
  rate: number;
  createdAt: number;
  /** Where to continue reading the list; null: all items are collected. */
  listCursor: string | null;
  /** Jobs of one series are worked on one after the other, in the order in which they were made; null: it waits for no other. */
  series: string | null;
  /** Nobody asked for it: it came by itself. */
  isScheduled: boolean;
}

export interface NewJob extends JobFacts {
  /** The items of the first page, newest first. */
  items: readonly JobItem[];
  /** The node that continues reading the list; null: any node that claims the job. */
  lease: { node: string; until: number } | null;
}

export interface Job extends JobFacts {
  /** `queued` while its items are collected. */
  status: JobStatus;
  /** Items collected so far. */
  total: number;
  /** Items processed. */
  done: number;
  /** How many of them failed. */
  failed: number;
  /** The first ones. */
  errors: readonly JobError[];
  /** What its kind reports about its items: JSON text. */
  report: string | null;
  /** What came of the items processed so far, by the names its kind uses. */
  tally: Readonly<Record<string, number>>;
  startedAt: number | null;
  endedAt: number | null;
}

/** A run that an item of a job starts, for an event that is already stored. */
export interface JobStart {
  eventSequence: number;
  run: NewRun;
}

/** What holds for each step of a job. */
export interface JobLeaseParams {
  id: JobId;
  environmentId: EnvironmentId;
  /** Must still hold the lease. */
  node: string;
  now: number;
  /** The lease is renewed until then. */
  until: number;
}

export interface JobAdvanceParams extends JobLeaseParams {
  /** The cursor when the batch was read: `done`. */
  after: number;
  /** How many items were processed. */
  worked: number;
  failures: readonly JobError[];
  starts: readonly JobStart[];
  /** The whole report, with this batch. Absent: it stays as it is. */
  report?: string;
  /** Added to the job's. */
  tally?: Readonly<Record<string, number>>;
  /** A further step follows the last item: the job does not end with it. */
  staysOpen?: boolean;
}

/** A page of the list. */
export interface JobItemsAddParams extends JobLeaseParams {
  /** `total` when the page was read. */
  after: number;
  items: readonly JobItem[];
  listCursor: string | null;
  /** Why the list ends before its end. */
  error?: JobError | undefined;
  /** A further step follows the last item: the job does not end with an empty list. */
  staysOpen?: boolean;
}

export const JOB_ERRORS_MAX = 10;

export interface JobStore {
  /** Stores the job and its first items. A job with an empty list has completed. */
  jobInsert(job: NewJob): Promise<Job>;
  /** Adds the items of one page. Returns the updated job; null, without effect: the lease is lost, the job has ended, or the page is stored. */
  jobItemsAdd(params: JobItemsAddParams): Promise<Job | null>;
  jobGet(params: { environmentId: EnvironmentId; id: JobId }): Promise<Job | null>;
  /** In whichever of these environments it is. */
  jobFind(params: { environmentIds: readonly EnvironmentId[]; id: JobId }): Promise<Job | null>;
  /** Newest first. */
  jobList(params: {
    environmentId: EnvironmentId;
    limit: number;
    after?: JobId;
    status?: JobStatus;
    isScheduled?: boolean;
  }): Promise<{ jobs: Job[]; next: JobId | null }>;
  /** Whether a job of the series has not ended. */
  jobSeriesIsOpen(params: { environmentId: EnvironmentId; series: string }): Promise<boolean>;
  /**
   * Leases the oldest job that no node holds, or that this node holds and is not in `except`, unless it is of one of `exceptKinds`, or an
   * older one of its series has not ended. It is `running` if its items are collected.
   */
  jobClaim(params: {
    node: string;
    now: number;
    until: number;
    except: readonly JobId[];
    exceptKinds: readonly string[];
  }): Promise<Job | null>;
  /** Renews the lease of a job during long work. Returns false, without effect, if it is lost or the job has ended. */
  jobRenew(params: { environmentId: EnvironmentId; id: JobId; node: string; until: number }): Promise<boolean>;
  /** The last items before the position `before`, last one first: at most `limit`, fewer at the end of a page. */
  jobItems(params: { id: JobId; environmentId: EnvironmentId; before: number; limit: number }): Promise<readonly JobItem[]>;
  /** Applies the whole batch. A start whose event has been removed counts as a failure. Returns the updated job; null, without effect, if the lease is lost or the job has ended. */
  jobAdvance(params: JobAdvanceParams): Promise<Job | null>;
  /** Null if there is no such job. An ended job is not changed. */
  jobEnd(params: {
    environmentId: EnvironmentId;
    id: JobId;
    status: "cancelled" | "failed";
    now: number;
    error?: JobError;
  }): Promise<Job | null>;
  /**
   * Removes jobs that ended at or before `endedUntil`, those that came by themselves at or before `scheduledUntil`. Returns how many. Their
   * items were removed when they ended.
   */
  jobExpireMany(params: { endedUntil: number; scheduledUntil: number; limit: number }): Promise<number>;
}
