/**
 * What a kind of job is: how its items are found, and what is done with each. One kind is one file in kinds/, and one line in
 * service/jobs-and-alerts.ts.
 *
 * A batch may be worked on twice: after a crash before its cursor was written, or when the lease was lost. What it starts is written
 * with the cursor and so happens once; everything else that `work` does must be idempotent.
 */

import type { JsonSchemaProperties } from "../api/jobs/read-job-request.ts";
import type { Environment, Job, JobError, JobItem, JobStart } from "../store/contract/index.ts";

export interface JobKind {
  kind: string;
  /** The parameters of the list that the items are entries of. */
  filters: JsonSchemaProperties;
  filtersRequired?: readonly string[];
  /** It can be limited to one function. */
  takesFunction?: boolean;
  /** It is started by a route of its own, not by POST /jobs. */
  hasOwnRoute?: boolean;
  /** A job about everything can be asked for, with `all`. */
  takesAll: boolean;
  /** A page of its list is asked of others, who may take their time. */
  asksOthers?: boolean;
  /** Of the filter only a hash is kept, with the job and in the audit log. */
  hidesFilter?: boolean;
  /** How many items are worked on in one transaction, if not the usual few (advance-job.ts). */
  batchMax?: number;
  /** A page of the list with this filter, newest first; `cursor`: where the page before ended. Throws a RestRefusal for a filter that cannot be read. */
  find(environment: Environment, filter: JobFilter, cursor: string | null, stopping: AbortSignal): Promise<FoundPage>;
  work(job: Job, items: readonly JobItem[]): Promise<JobBatch>;
  /**
   * What remains to be done after the last item, as a step of its own; the job ends with it, unless it answers that it waits for
   * something: then it is called again. Idempotent, and returns within about a second: a service that stops waits for it.
   */
  settle?(job: Job): Promise<JobSettlement | undefined>;
  /** The name in the tally of items that cost next to nothing: they do not count against the job's rate. */
  unpaced?: string;
  /** Called when the job was cancelled or failed while a node worked on it. Idempotent. */
  ended?(job: Job): Promise<void>;
}

/** Thrown by `work` when it has waited for what ends by itself: it is called again, however often, until that has ended. */
export class InTheWay extends Error {}

export type JobFilter = Readonly<Record<string, unknown>>;

export interface FoundPage {
  found: readonly FoundItem[];
  /** Null: this is the last page. It may be empty while there are others. */
  next: string | null;
  /** Why the list ends here, before its end. */
  error?: string | undefined;
}

export interface FoundItem {
  item: JobItem;
  /** The entry as the list shows it: JSON text. */
  sample(): string;
}

/** What came of a batch. */
export interface JobBatch {
  /** How many of its items were worked on, from the first one: the others are given again. Absent: all of them. */
  worked?: number;
  starts: readonly JobStart[];
  failures: readonly JobError[];
  /** JSON text: the whole report of the job, with this batch. Absent: it stays as it is. */
  report?: string;
  /** What came of the items, added up with the job. */
  tally?: Readonly<Record<string, number>>;
}

/** What came of the last step. */
export interface JobSettlement {
  waits: boolean;
  failures?: readonly JobError[];
  report?: string;
}

/** How many entries are read at a time. */
export const PAGE_ITEMS = 500;
