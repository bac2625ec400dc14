/**
 * Works on jobs: fixes their items, a page of the list at a time, then works on them, a batch at a time, as fast as each job's rate allows.
 * A node works on a job while it has the job's lease, which it renews by a timer, whatever a page or batch takes; a job whose node died is
 * taken over when the lease is over.
 *
 * Jobs yield to live traffic: runs they start stand behind those that events start (kinds/), and a batch waits while the process is
 * busy or much work waits in the queue of the environment, though not for ever.
 */

import { type EventLoopUtilization, performance } from "node:perf_hooks";
import { setTimeout as pause } from "node:timers/promises";
import type { JobId } from "@inlet/protocol";
import type { Logger } from "pino";
import { RestRefusal } from "../api/rest-errors.ts";
import { type Environment, type Job, type JobStore, type NewJob, type QueueStore, sharedRefresh } from "../store/contract/index.ts";
import { advanceJob } from "./advance-job.ts";
import { InTheWay, type JobFilter, type JobKind } from "./job-kind.ts";

export interface JobRunnerParts {
  store: JobStore & Pick<QueueStore, "queueDepths"> & { storeNode: string };
  kinds: readonly JobKind[];
  environment(id: Environment["id"]): Environment | undefined;
  log: Logger;
  now(): number;
  leaseMs: number;
}

const POLL_INTERVAL_MS = 500;
const AT_ONCE_MAX = 4;
/** Of jobs that ask others, beside the rest: however slow those are, they hold up nothing else. */
const ASKING_AT_ONCE_MAX = 8;
/** Above this share of its time the process counts as busy. */
const BUSY_SHARE = 0.8;
const QUEUE_MAX = 1_000;
/** Short, so that a job uses the gaps that live traffic leaves. */
const YIELD_MS = 20;
const YIELDS_MAX = 25;
/** How often a lease is renewed before it would expire. */
const RENEWALS = 3;
/** A job that waits for others stops waiting so soon after it was cancelled. */
const WATCH_MS = 1_000;
/** A batch that failed so often in a row ends the job. */
const TRIES_MAX = 10;
const RETRY_MS = 500;
const FILTER_LOST =
  "The service stopped before it had found all items, and this job's filter is not stored. Nothing was changed: start the job again.";

export class JobRunner {
  readonly #parts: JobRunnerParts;
  readonly #stopping = new AbortController();
  readonly #working = new Map<JobId, { kind: string; work: Promise<void> }>();
  #timer: NodeJS.Timeout | null = null;
  #polling: Promise<void> = Promise.resolve();
  readonly #claimShared = sharedRefresh(() => this.#claim());

  constructor(parts: JobRunnerParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#timer ??= setInterval(() => this.wake(), POLL_INTERVAL_MS).unref();
    this.wake();
  }

  /** Looks for jobs that nobody works on. */
  wake(): void {
    this.#polling = this.#claimShared();
  }

  /**
   * Stores a job and fixes its items at once, whatever else is worked on: the list goes on changing. `end` resolves when they are
   * fixed, or left to others. `filter` is the one to walk by: the job may keep a hash only.
   */
  async add(job: Omit<NewJob, "lease">, filter: JobFilter): Promise<{ end: Promise<void> }> {
    const { store } = this.#parts;
    const isWalked = job.listCursor !== null;
    const stored = store.jobInsert({ ...job, lease: isWalked ? { node: store.storeNode, until: this.#leaseEnd() } : null });
    const walk = () =>
      this.#track(
        job,
        stored.then(
          (made) => this.#work(made, filter),
          () => undefined,
        ),
      );
    const end = isWalked ? walk() : Promise.resolve();
    await stored;
    this.wake();
    return { end };
  }

  /** Stores a job whose items are found later, when its turn comes. */
  async enqueue(job: Omit<NewJob, "lease">): Promise<Job> {
    const stored = await this.#parts.store.jobInsert({ ...job, lease: null });
    this.wake();
    return stored;
  }

  /** The batch under way is finished; the rest is for whoever has the lease next. */
  async stop(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer);
    this.#stopping.abort();
    await this.#polling;
    await Promise.all([...this.#working.values()].map(({ work }) => work));
  }

  async #claim(): Promise<void> {
    const { store, now, log } = this.#parts;
    try {
      while (!this.#isStopping) {
        const left = { except: [...this.#working.keys()], exceptKinds: this.#kindsWithoutSlot() };
        const job = await store.jobClaim({ node: store.storeNode, now: now(), until: this.#leaseEnd(), ...left });
        if (!job) return;
        if (!this.#working.has(job.id)) void this.#track(job, this.#work(job));
      }
    } catch (error) {
      log.debug({ err: error }, "jobs could not be claimed; this is tried again");
    }
  }

  #kindsWithoutSlot(): string[] {
    const { kinds } = this.#parts;
    const asking = new Set(kinds.filter(({ asksOthers }) => asksOthers).map(({ kind }) => kind));
    const working = [...this.#working.values()];
    const askingNow = working.filter(({ kind }) => asking.has(kind)).length;
    const isFull = { asking: askingNow >= ASKING_AT_ONCE_MAX, others: working.length - askingNow >= AT_ONCE_MAX };
    return kinds.filter(({ kind }) => (asking.has(kind) ? isFull.asking : isFull.others)).map(({ kind }) => kind);
  }

  /** When one is done with, there may be room for another. */
  #track({ id, kind }: Pick<Job, "id" | "kind">, work: Promise<void>): Promise<void> {
    const tracked = work.finally(() => {
      this.#working.delete(id);
      this.wake();
    });
    this.#working.set(id, { kind, work: tracked });
    return tracked;
  }

  get #isStopping(): boolean {
    return this.#stopping.signal.aborted;
  }

  #leaseEnd(): number {
    return this.#parts.now() + this.#parts.leaseMs;
  }

  /**
   * The lease is renewed until the work ends. Work of a node that lost it, or of a job that has ended, has no effect: no page or batch of it
   * is written, and what a page waits for is given up.
   */
  async #work(job: Job, walkedBy?: JobFilter): Promise<void> {
    const { kinds, leaseMs } = this.#parts;
    const kind = kinds.find((candidate) => candidate.kind === job.kind);
    if (!kind) return this.#fail(job, `This release does not know jobs of the kind ${job.kind}.`);
    const lost = new AbortController();
    let isRenewing = false;
    const renew = async () => {
      if (isRenewing) return;
      isRenewing = true;
      if (!(await this.#isMine(job))) lost.abort();
      isRenewing = false;
    };
    const timer = setInterval(renew, Math.min(leaseMs / RENEWALS, kind.asksOthers ? WATCH_MS : leaseMs)).unref();
    await this.#advance(kind, job, lost.signal, walkedBy).finally(() => clearInterval(timer));
  }

  /** Renews the lease. If that cannot be written, the next time comes before the lease is over. */
  #isMine(job: Job): Promise<boolean> {
    const { store } = this.#parts;
    return store.jobRenew({ ...job, node: store.storeNode, until: this.#leaseEnd() }).catch(() => true);
  }

  /** With `walkedBy` only until the items are fixed. */
  async #advance(kind: JobKind, claimed: Job, lost: AbortSignal, walkedBy?: JobFilter): Promise<void> {
    if (claimed.listCursor !== null && kind.hidesFilter && !walkedBy) return this.#fail(claimed, FILTER_LOST);
    const parts = { ...this.#parts, leaseEnd: () => this.#leaseEnd(), stopping: AbortSignal.any([this.#stopping.signal, lost]) };
    let job = claimed;
    let tries = 0;
    let nextAt = this.#parts.now();
    let load = performance.eventLoopUtilization();
    while (!this.#isStopping) {
      const { id, rate, done } = job;
      try {
        const advanced = await advanceJob(parts, kind, job, walkedBy);
        if (!advanced) return this.#noteEnd(kind, job);
        if (advanced.endedAt !== null || (walkedBy && advanced.listCursor === null)) return;
        tries = 0;
        const free = kind.unpaced === undefined ? 0 : (advanced.tally[kind.unpaced] ?? 0) - (job.tally[kind.unpaced] ?? 0);
        nextAt = Math.max(nextAt, this.#parts.now()) + ((advanced.done - done - free) / rate) * 1_000;
        job = advanced;
      } catch (error) {
        if (this.#isStopping) return;
        if (lost.aborted) return this.#noteEnd(kind, job);
        if (error instanceof RestRefusal) return this.#fail(job, error.message);
        const level = error instanceof InTheWay ? "debug" : "warn";
        this.#parts.log[level]({ err: error, job: id }, "a batch of a job failed; it is tried again");
        if (error instanceof InTheWay) {
          // It has waited for long: meanwhile, the job may have been cancelled, or claimed by another node.
          if (!(await this.#isMine(job))) return this.#noteEnd(kind, job);
        } else if (++tries >= TRIES_MAX) {
          await this.#fail(job, `A batch failed ${TRIES_MAX} times: ${(error as Error).message}`);
          return this.#noteEnd(kind, job);
        }
        nextAt = this.#parts.now() + RETRY_MS * Math.max(tries, 1);
        job = await this.#again(job);
      }
      await this.#rest(nextAt - this.#parts.now());
      if (job.listCursor === null) load = await this.#yield(job, load);
    }
  }

  /** A job that goes no further was cancelled or failed, or another node works on it. */
  async #noteEnd(kind: JobKind, { environmentId, id }: Job): Promise<void> {
    const { store, log } = this.#parts;
    try {
      const job = await store.jobGet({ environmentId, id });
      if (job?.status === "cancelled" || job?.status === "failed") await kind.ended?.(job);
    } catch (error) {
      log.warn({ err: error, job: id }, "the end of a job could not be noted");
    }
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
    if (ms > 0) await pause(ms, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
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
