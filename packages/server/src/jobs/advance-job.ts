/**
 * One step of a job: the next page of its list is added to its items, or the next batch of them is worked on, or, after the last one, its
 * kind's last step is taken. Each is one transaction.
 */

import type { Environment, Job, JobLeaseParams, JobStore } from "../store/contract/index.ts";
import type { JobFilter, JobKind } from "./job-kind.ts";

export interface AdvanceJobParts {
  store: JobStore & { storeNode: string };
  environment(id: Environment["id"]): Environment | undefined;
  leaseEnd(): number;
  /** Ends what a page waits for: the service stops, or the job has ended or is another node's. */
  stopping: AbortSignal;
  now(): number;
}

/** Few at a time: what a batch writes and starts at once is what live traffic waits for. */
const BATCH_MAX = 3;
/** How many batches a second a job is divided into, if its rate allows. */
const BATCHES_PER_S = 4;

/** `filter`: what the list is walked by, if the job does not say. Null: the lease is lost, or the job has ended. */
export function advanceJob(parts: AdvanceJobParts, kind: JobKind, job: Job, filter?: JobFilter): Promise<Job | null> {
  if (job.listCursor !== null) return addPage(parts, kind, job, filter ?? (JSON.parse(job.filter) as JobFilter));
  return job.done < job.total ? workBatch(parts, kind, job) : settle(parts, kind, job);
}

async function addPage(parts: AdvanceJobParts, kind: JobKind, job: Job, filter: JobFilter): Promise<Job | null> {
  const { store, environment, stopping } = parts;
  const home = environment(job.environmentId);
  if (!home) throw new Error("the environment of the job is not known here");
  const { found, next, error } = await kind.find(home, filter, job.listCursor, stopping);
  return store.jobItemsAdd({
    ...leaseOf(parts, job),
    after: job.total,
    items: found.map(({ item }) => item),
    listCursor: next,
    error: error === undefined ? undefined : { item: null, message: error },
    staysOpen: kind.settle !== undefined,
  });
}

async function workBatch(parts: AdvanceJobParts, kind: JobKind, job: Job): Promise<Job | null> {
  const { store } = parts;
  const { id, environmentId, total, done } = job;
  const limit = Math.min(Math.max(Math.ceil(job.rate / BATCHES_PER_S), 1), kind.batchMax ?? BATCH_MAX);
  const items = await store.jobItems({ id, environmentId, before: total - done, limit });
  const { worked = items.length, starts, failures, report, tally } = await kind.work(job, items);
  return store.jobAdvance({
    ...leaseOf(parts, job),
    after: done,
    worked,
    starts,
    failures,
    ...(report !== undefined && { report }),
    ...(tally && { tally }),
    staysOpen: kind.settle !== undefined,
  });
}

async function settle(parts: AdvanceJobParts, kind: JobKind, job: Job): Promise<Job | null> {
  const { waits = false, failures = [], report } = (await kind.settle?.(job)) ?? {};
  return parts.store.jobAdvance({
    ...leaseOf(parts, job),
    after: job.done,
    worked: 0,
    starts: [],
    failures,
    ...(report !== undefined && { report }),
    staysOpen: waits,
  });
}

/** The lease that a step needs, and how long it is renewed with it. */
function leaseOf({ store, leaseEnd, now }: AdvanceJobParts, { id, environmentId }: Job): JobLeaseParams {
  return { id, environmentId, node: store.storeNode, now: now(), until: leaseEnd() };
}
