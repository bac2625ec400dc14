/**
 * Works on jobs, a batch at a time, as fast as each job's rate allows. A node works on a job while it has the job's lease, which every
 * batch prolongs; a job whose node died is taken over when the lease is over.
 *
 * Jobs yield to live traffic: runs they start stand behind those that events start (kinds/), and a batch waits while the process is
 * busy or much work waits in the queue of the environment, though not for ever.
 */

import { type EventLoopUtilization, performance } from "node:perf_hooks";
import { setTimeout as pause } from "node:timers/promises";
import type { JobId } from "@inlet/protocol";
import type { Logger } from "pino";
import type { Job, JobStore, QueueStore } from "../store/contract/index.ts";
import type { JobKind } from "./job-kind.ts";

export interface JobRunnerParts {
  store: JobStore & Pick<QueueStore, "queueDepths"> & { storeNode: string };
  kinds: readonly JobKind[];
  log: Logger;
  now(): number;
  leaseMs?: number;
}

const LEASE_MS = 10_000;
const LOOK_EVERY_MS = 500;
const AT_ONCE_MAX = 4;
const BATCH_MAX = 100;
/** How many batches a second a job is divided into, if its rate allows. */
const BATCHES_PER_S = 4;
/** Above this share of its time the process counts as busy. */
const BUSY_SHARE = 0.8;
const QUEUE_MAX = 1_000;
const YIELD_MS = 100;
const YIELDS_MAX = 20;
/** A batch that failed so often in a row ends the job. */
const TRIES_MAX = 10;
const RETRY_MS = 500;

export class JobRunner {
  readonly #parts: JobRunnerParts;
  readonly #stopping = new AbortController();
  readonly #working = new Map<JobId, Promise<void>>();
  #timer: NodeJS.Timeout | null = null;
  #looking: Promise<void> = Promise.resolve();

  constructor(parts: JobRunnerParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#timer ??= setInterval(() => this.wake(), LOOK_EVERY_MS).unref();
    this.wake();
  }

  /** Looks for jobs that nobody works on. */
  wake(): void {
    this.#looking = this.#looking.then(() => this.#claim());
  }

  /** The batch under way is finished; the rest is for whoever has the lease next. */
  async stop(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer);
    this.#stopping.abort();
    await this.#looking;
    await Promise.all(this.#working.values());
  }

  async #claim(): Promise<void> {
    const { store, now, log } = this.#parts;
    try {
      while (!this.#isStopping && this.#working.size < AT_ONCE_MAX) {
        const job = await store.jobClaim({ node: store.storeNode, now: now(), until: this.#leaseEnd(), except: [...this.#working.keys()] });
        if (!job) return;
        this.#working.set(
          job.id,
          this.#work(job).finally(() => this.#working.delete(job.id)),
        );
      }
    } catch (error) {
      log.debug({ err: error }, "jobs could not be looked for; this is tried again");
    }
  }

  get #isStopping(): boolean {
    return this.#stopping.signal.aborted;
  }

  #leaseEnd(): number {
    return this.#parts.now() + (this.#parts.leaseMs ?? LEASE_MS);
  }

  async #work(claimed: Job): Promise<void> {
    const kind = this.#parts.kinds.find((candidate) => candidate.kind === claimed.kind);
    if (!kind) return this.#fail(claimed, `This release does not know jobs of the kind ${claimed.kind}.`);
    let job = claimed;
    let tries = 0;
    let nextAt = this.#parts.now();
    let load = performance.eventLoopUtilization();
    while (!this.#isStopping) {
      const { id, rate, done } = job;
      try {
        const advanced = await this.#batch(kind, job);
        if (!advanced || advanced.endedAt !== null) return;
        tries = 0;
        nextAt = Math.max(nextAt, this.#parts.now()) + ((advanced.done - done) / rate) * 1_000;
        job = advanced;
      } catch (error) {
        this.#parts.log.warn({ err: error, job: id }, "a batch of a job failed; it is tried again");
        if (++tries >= TRIES_MAX) return this.#fail(job, `A batch failed ${TRIES_MAX} times: ${(error as Error).message}`);
        nextAt = this.#parts.now() + RETRY_MS * tries;
        job = await this.#again(job);
      }
      await this.#rest(nextAt - this.#parts.now());
      load = await this.#yield(job, load);
    }
  }

  /** Null: the lease is lost, or the job has ended. */
  async #batch(kind: JobKind, job: Job): Promise<Job | null> {
    const { store, now } = this.#parts;
    const { id, environmentId, done } = job;
    const limit = Math.min(Math.max(Math.ceil(job.rate / BATCHES_PER_S), 1), kind.batchMax ?? BATCH_MAX);
    const items = await store.jobItems({ id, environmentId, after: done, limit });
    const { starts, failures } = await kind.work(job, items);
    return store.jobAdvance({
      ...{ id, environmentId, node: store.storeNode, now: now(), until: this.#leaseEnd() },
      ...{ after: done, worked: items.length, starts, failures },
    });
  }

  /** The job as the store knows it: the batch may have been written although nobody said so. */
  async #again(job: Job): Promise<Job> {
    return (await this.#parts.store.jobGet(job).catch(() => null)) ?? job;
  }

  async #fail(job: Job, message: string): Promise<void> {
    const { store, now, log } = this.#parts;
    await store
      .jobEnd({ environmentId: job.environmentId, id: job.id, status: "failed", now: now(), error: { item: null, message } })
      .catch((error) => log.error({ err: error, job: job.id }, "a job that failed could not be ended"));
  }

  async #rest(ms: number): Promise<void> {
    if (ms > 0) await pause(Math.min(ms, LEASE_MS / 3), undefined, { signal: this.#stopping.signal }).catch(() => undefined);
  }

  async #yield({ environmentId }: Job, before: EventLoopUtilization): Promise<EventLoopUtilization> {
    let load = before;
    for (let yields = 0; yields < YIELDS_MAX && !this.#isStopping; yields++) {
      const isBusy = performance.eventLoopUtilization(load).utilization > BUSY_SHARE;
      load = performance.eventLoopUtilization();
      const depths = await this.#parts.store.queueDepths().catch(() => []);
      const waiting = depths.find((depth) => depth.environmentId === environmentId)?.waiting ?? 0;
      if (!isBusy && waiting <= QUEUE_MAX) break;
      await this.#rest(YIELD_MS);
    }
    return load;
  }
}
