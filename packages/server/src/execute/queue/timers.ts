/** Work that is due later: finds when the next entry is due, and processes it then. For sleeps, timeouts, retries and crons. */

import { type ClaimedEntry, type Lease, type QueueStore, TIMER_LANE } from "../../store/contract/index.ts";
import type { Clock } from "../clock.ts";

const BATCH_ENTRIES = 200;
/** The store is asked at least this often, even if no timer is due: another node may have died while it held work. */
const POLL_INTERVAL_MS = 30_000;
const RETRY_MS = 1_000;

export interface TimersParts {
  store: Pick<QueueStore, "queueClaimMany" | "queueNextDue">;
  lease(): Lease;
  /** Called for every due batch; resolves when the batch is processed. */
  work(entries: readonly ClaimedEntry[]): Promise<void>;
  clock: Clock;
}

export class Timers {
  readonly #parts: TimersParts;
  #stopWaiting: (() => void) | null = null;
  #wakeAt = Number.POSITIVE_INFINITY;
  #polling: Promise<void> | null = null;
  #stopped = false;

  constructor(parts: TimersParts) {
    this.#parts = parts;
  }

  start(): void {
    this.wakeBy(this.#parts.clock.now());
  }

  /** An entry is due at this time. A wait whose time has passed is not relied on: the clock was set forward since it began. */
  wakeBy(dueAt: number): void {
    if (this.#stopped) return;
    const { clock } = this.#parts;
    const now = clock.now();
    if (dueAt >= this.#wakeAt) {
      if (this.#wakeAt <= now) this.#poll();
      return;
    }
    this.#wakeAt = dueAt;
    this.#stopWaiting?.();
    this.#stopWaiting = clock.after(Math.min(Math.max(dueAt - now, 0), POLL_INTERVAL_MS), () => this.#poll());
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#stopWaiting?.();
    await this.#polling;
  }

  #poll(): void {
    if (this.#polling) return;
    this.#stopWaiting?.();
    this.#polling = this.#claimDue()
      .catch(() => this.#parts.clock.now() + RETRY_MS)
      .then((next) => {
        this.#polling = null;
        const earlier = Math.min(next, this.#wakeAt);
        this.#wakeAt = Number.POSITIVE_INFINITY;
        this.wakeBy(earlier);
      });
  }

  /** Returns when to continue. Entries added in the meantime are noted in `#wakeAt`. */
  async #claimDue(): Promise<number> {
    const { store, clock, lease, work } = this.#parts;
    this.#wakeAt = Number.POSITIVE_INFINITY;
    let claimedUntil = clock.now();
    for (let more = true; more && !this.#stopped; ) {
      claimedUntil = clock.now();
      const batch = await store.queueClaimMany({ lane: TIMER_LANE, limit: BATCH_ENTRIES, now: claimedUntil, lease: lease(), limits: [] });
      await work(batch.claimed);
      more = batch.more;
    }
    const nextDue = (await store.queueNextDue()) ?? Number.POSITIVE_INFINITY;
    return Math.min(nextDue, clock.now() + POLL_INTERVAL_MS);
  }
}
