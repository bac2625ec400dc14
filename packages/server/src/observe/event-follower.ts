/**
 * Keeps derived data up to date with new events: at intervals while events arrive, on one node of a cluster, and on request on any node.
 * One pass at a time. Accepting an event costs nothing extra.
 */

import type { Logger } from "pino";
import type { EventStore, LeadershipStore, Store } from "../store/contract/index.ts";

export interface EventFollowerParts {
  store: Pick<EventStore, "eventWatch"> & Pick<LeadershipStore, "leadershipTake"> & Pick<Store, "storeNode" | "storeNow">;
  /** What is derived, for its leadership and the log. */
  what: string;
  /** Processes some events that it has not seen yet. Returns true if more are left. */
  poll(): Promise<boolean>;
  everyMs: number;
  /** Maximum number of passes per interval. */
  pollsMax: number;
  /** How long a caller waits at most, in addition to one pass. */
  askedMs: number;
  log: Logger;
}

/** If a node dies, another takes over its leadership after this many intervals. */
const LEADERSHIP_INTERVALS = 5;

export class EventFollower {
  readonly #parts: EventFollowerParts;
  #timer: NodeJS.Timeout | null = null;
  #unwatch: (() => void) | null = null;
  /** Also at start: events committed before the last stop may not have been seen. */
  #isBehind = true;
  #polling: Promise<unknown> = Promise.resolve();
  #isFollowing = false;
  #stopped = false;

  constructor(parts: EventFollowerParts) {
    this.#parts = parts;
  }

  start(): void {
    const { store, what, everyMs, log } = this.#parts;
    this.#unwatch ??= store.eventWatch(() => {
      this.#isBehind = true;
    });
    this.#timer ??= setInterval(() => {
      if (this.#isBehind && !this.#isFollowing) this.#follow().catch((error) => log.warn({ err: error }, `${what} could not be kept`));
    }, everyMs).unref();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#timer) clearInterval(this.#timer);
    this.#unwatch?.();
    await this.#polling.catch(() => undefined);
  }

  /** Processes new events for a bounded time: all of them, unless the service has just started. */
  async catchUp(): Promise<void> {
    const deadline = Date.now() + this.#parts.askedMs;
    while ((await this.#poll()) && Date.now() < deadline);
  }

  async #follow(): Promise<void> {
    this.#isFollowing = true;
    try {
      if (!(await this.#takeLeadership())) return;
      for (let polls = 0; polls < this.#parts.pollsMax && (await this.#poll()); polls++);
    } finally {
      this.#isFollowing = false;
    }
  }

  #takeLeadership(): Promise<boolean> {
    const { store, what, everyMs } = this.#parts;
    const now = store.storeNow();
    return store.leadershipTake({ work: `follow:${what}`, node: store.storeNode, now, until: now + everyMs * LEADERSHIP_INTERVALS });
  }

  /** A caller that arrives during a pass waits for the next one. */
  #poll(): Promise<boolean> {
    const polled = this.#polling.catch(() => undefined).then(() => this.#pollOnce());
    this.#polling = polled;
    return polled;
  }

  async #pollOnce(): Promise<boolean> {
    if (!this.#isBehind || this.#stopped) return false;
    // Events that arrive in the meantime are left for the next pass: otherwise this might never end.
    this.#isBehind = false;
    let hasMore = true;
    try {
      hasMore = await this.#parts.poll();
      return hasMore;
    } finally {
      this.#isBehind ||= hasMore;
    }
  }
}
