/**
 * Bulk cancellations: cancels the runs of a function that were created in a time range and whose event matches an expression.
 *
 * A cancellation is stored before the response is sent, and processed until every run it covers has been handled: by this node, or by
 * another one if this node dies. An ended run is not changed, so processing a run twice has no effect. It covers existing runs only: its
 * range ends at most a few seconds after its creation, and is scanned once more after that time.
 */

import type { EnvironmentId, FunctionNo } from "@inlet/protocol";
import type { Logger } from "pino";
import type { Cancellation, CancellationStore, LeadershipStore, RunStatus, RunStore, RunSummary, Store } from "../store/contract/index.ts";
import type { Clock } from "./clock.ts";

export interface BulkCancellationsParts {
  store: CancellationStore & RunStore & LeadershipStore & Pick<Store, "storeNode" | "storeIsShared">;
  functionNos(environmentId: EnvironmentId, functionId: string): readonly FunctionNo[];
  /** Whether the event that started the run matches. */
  matches(expression: string, run: RunSummary): Promise<boolean>;
  /** False if the run has already ended. */
  cancel(run: RunSummary, cancellation: Cancellation): Promise<boolean>;
  clock: Clock;
  log: Logger;
}

const OPEN_STATUSES: readonly RunStatus[] = ["queued", "running", "sleeping", "waiting"];
const PAGE_RUNS = 100;
/** The interval at which unfinished work of other nodes is found. */
const POLL_INTERVAL_MS = 5_000;
const WORK = "bulk cancellations";
const LEADERSHIP_MS = 30_000;
/** Runs are created a moment before they are stored: this long after its end, a range is complete. */
const SETTLE_MS = 2_000;
/** A run that changes its status during the scan is found in a further pass. */
const PASSES_MAX = 10;

export class BulkCancellations {
  readonly #parts: BulkCancellationsParts;
  #cancelTimer: (() => void) | null = null;
  /** One was created since the last scan began. */
  #isNew = false;
  #working: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(parts: BulkCancellationsParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#pollAfter(0);
  }

  /** Stored first, then processed in the background. */
  async create(cancellation: Cancellation): Promise<void> {
    await this.#parts.store.cancellationInsert(cancellation);
    this.#isNew = true;
    this.#pollAfter(0);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancelTimer?.();
    await this.#working;
    await this.#parts.store.leadershipResign(this.#leadership()).catch(() => undefined);
  }

  #pollAfter(ms: number | null): void {
    if (this.#isStopped || ms === null) return;
    this.#cancelTimer?.();
    this.#cancelTimer = this.#parts.clock.after(ms, () => {
      this.#working = this.#working.then(() => this.#poll()).then((nextMs) => this.#pollAfter(this.#isNew ? 0 : nextMs));
    });
  }

  /** Processes open cancellations. Returns after how many milliseconds to continue; null: not before one is created. */
  async #poll(): Promise<number | null> {
    const { store, clock, log } = this.#parts;
    this.#isNew = false;
    try {
      const open = await store.cancellationListOpen();
      if (open.length === 0) return store.storeIsShared ? POLL_INTERVAL_MS : null;
      const now = clock.now();
      if (!(await store.leadershipTake({ ...this.#leadership(), now, until: now + LEADERSHIP_MS }))) return POLL_INTERVAL_MS;
      for (const cancellation of open) await this.#work(cancellation);
      await store.leadershipResign(this.#leadership());
      const settled = Math.min(...open.map(({ startedBefore }) => startedBefore + SETTLE_MS - clock.now()));
      return settled > 0 ? Math.min(settled, POLL_INTERVAL_MS) : POLL_INTERVAL_MS;
    } catch (error) {
      log.warn({ err: error }, "bulk cancellations could not be processed; they will be retried");
      return POLL_INTERVAL_MS;
    }
  }

  async #work(cancellation: Cancellation): Promise<void> {
    const { store, clock } = this.#parts;
    const isSettled = clock.now() >= cancellation.startedBefore + SETTLE_MS;
    for (let pass = 0; pass < PASSES_MAX; pass++) {
      const cancelled = await this.#pass(cancellation);
      if (this.#isStopped) return;
      if (cancelled === 0 && pass > 0) break;
    }
    if (isSettled) await store.cancellationEnd({ ...cancellation, endedAt: clock.now() });
  }

  /** Returns how many runs it cancelled. */
  async #pass(cancellation: Cancellation): Promise<number> {
    let cancelled = 0;
    for (const status of OPEN_STATUSES) cancelled += await this.#passOf(cancellation, status);
    return cancelled;
  }

  async #passOf(cancellation: Cancellation, status: RunStatus): Promise<number> {
    const { store, functionNos } = this.#parts;
    const { environmentId, functionId, startedAfter, startedBefore } = cancellation;
    const range = { ...(startedAfter !== null && { from: startedAfter }), to: startedBefore };
    const wanted = { environmentId, functionNos: functionNos(environmentId, functionId), status, limit: PAGE_RUNS, ...range };
    let cancelled = 0;
    let page = await store.runList(wanted);
    for (;;) {
      for (const run of page.runs) cancelled += (await this.#cancelOne(cancellation, run)) ? 1 : 0;
      if (page.next === null || this.#isStopped || !(await this.#goesOn(cancellation))) return cancelled;
      page = await store.runList({ ...wanted, after: page.next });
    }
  }

  async #cancelOne(cancellation: Cancellation, run: RunSummary): Promise<boolean> {
    const { matches, cancel } = this.#parts;
    const { expression } = cancellation;
    if (expression !== null && !(await matches(expression, run))) return false;
    return cancel(run, cancellation);
  }

  /** Renews the leadership during long work; false once the cancellation has been deleted. */
  async #goesOn(cancellation: Cancellation): Promise<boolean> {
    const { store, clock } = this.#parts;
    const now = clock.now();
    await store.leadershipTake({ ...this.#leadership(), now, until: now + LEADERSHIP_MS });
    return (await store.cancellationGet(cancellation)) !== null;
  }

  #leadership() {
    return { work: WORK, node: this.#parts.store.storeNode };
  }
}
