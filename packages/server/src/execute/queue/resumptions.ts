/**
 * Continues with what is left of matching events with waits: after a transaction of this node left something, at the start, and on a
 * shared store now and then, for what other nodes left when they died. One bounded transaction follows the other, name by name, until
 * nothing is left or other nodes are at it. Each database by itself: one that cannot be used keeps none of the others from going on.
 */

import type { Logger } from "pino";
import { inEachDatabase, type ResumptionKey, type Store, StoreUnavailable } from "../../store/contract/index.ts";
import type { Clock } from "../clock.ts";

export interface ResumptionsParts {
  store: Store;
  clock: Clock;
  log: Logger;
}

const NAMES_AT_ONCE = 100;
const POLL_INTERVAL_MS = 5_000;
const RETRY_MS = 1_000;

export class Resumptions {
  readonly #parts: ResumptionsParts;
  #stopWatching: (() => void) | null = null;
  #cancelPoll: (() => void) | null = null;
  #working: Promise<void> | null = null;
  /** Something was left since the last list was read. */
  #wasNoted = false;
  #isStopped = false;

  constructor(parts: ResumptionsParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#stopWatching = this.#parts.store.resumptionWatch(() => this.#note());
    this.#note();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#stopWatching?.();
    this.#cancelPoll?.();
    await this.#working;
  }

  #note(): void {
    this.#wasNoted = true;
    if (this.#isStopped || this.#working) return;
    this.#cancelPoll?.();
    this.#cancelPoll = null;
    this.#working = this.#work().then((hasFailed) => {
      this.#working = null;
      if (this.#isStopped) return;
      if (this.#wasNoted && !hasFailed) return this.#note();
      const pollMs = hasFailed ? RETRY_MS : this.#parts.store.storeIsShared ? POLL_INTERVAL_MS : null;
      if (pollMs !== null) this.#cancelPoll = this.#parts.clock.after(pollMs, () => this.#note());
    });
  }

  /** Returns whether it failed. */
  async #work(): Promise<boolean> {
    try {
      do this.#wasNoted = false;
      while (!this.#isStopped && (await inEachDatabase(this.#parts.store, (...one) => this.#continueAll(...one))));
      return false;
    } catch (error) {
      // A store that cannot be used has its own log line.
      if (!(error instanceof StoreUnavailable))
        this.#parts.log.warn({ err: error }, "waits could not be matched with events; this is retried");
      return true;
    }
  }

  /**
   * One transaction for each name, so that they share the time, and a name that fails stops no other. Returns whether to go on; throws
   * the first fault.
   */
  async #continueAll(store: Store, isHeld: (key: ResumptionKey) => boolean): Promise<boolean> {
    const { clock } = this.#parts;
    let isProgress = false;
    const faults: unknown[] = [];
    for (const key of (await store.resumptionList({ limit: NAMES_AT_ONCE })).filter(isHeld)) {
      if (this.#isStopped) return false;
      try {
        isProgress = (await store.resumptionContinue({ ...key, now: clock.now() })).isOurs || isProgress;
      } catch (error) {
        faults.push(error);
        if (error instanceof StoreUnavailable) break;
      }
    }
    if (faults.length > 0) throw faults[0];
    return isProgress;
  }
}
