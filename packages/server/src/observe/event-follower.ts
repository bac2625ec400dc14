/**
 * Keeps something close behind the events: at intervals while some come in, on one node of a cluster, and wherever somebody asks. One look
 * at a time. Accepting an event costs nothing for it.
 */

import type { Logger } from "pino";
import type { EventStore, Store, TurnStore } from "../store/contract/index.ts";

export interface EventFollowerParts {
  store: Pick<EventStore, "eventWatch"> & Pick<TurnStore, "turnTake"> & Pick<Store, "storeNode" | "storeNow">;
  /** What is kept, for its turn and the log. */
  what: string;
  /** Looks at some events that it has not seen yet; true when that did not reach the last one. */
  look(): Promise<boolean>;
  everyMs: number;
  /** Looks of one interval at most. */
  looksMax: number;
  /** How long somebody who asks waits at most, beside one look. */
  askedMs: number;
  log: Logger;
}

/** A node that has gone leaves its turn to another one after this many intervals. */
const TURN_INTERVALS = 5;

export class EventFollower {
  readonly #parts: EventFollowerParts;
  #timer: NodeJS.Timeout | null = null;
  #unwatch: (() => void) | null = null;
  /** At start too: what was committed before the last end may not have been seen. */
  #isBehind = true;
  #looking: Promise<unknown> = Promise.resolve();
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
    await this.#looking.catch(() => undefined);
  }

  /** Looks at what came in, as far as that goes in a moment: all of it, unless the service has just started. */
  async catchUp(): Promise<void> {
    const deadline = Date.now() + this.#parts.askedMs;
    while ((await this.#look()) && Date.now() < deadline);
  }

  async #follow(): Promise<void> {
    this.#isFollowing = true;
    try {
      if (!(await this.#takeTurn())) return;
      for (let looks = 0; looks < this.#parts.looksMax && (await this.#look()); looks++);
    } finally {
      this.#isFollowing = false;
    }
  }

  #takeTurn(): Promise<boolean> {
    const { store, what, everyMs } = this.#parts;
    const now = store.storeNow();
    return store.turnTake({ work: `follow:${what}`, node: store.storeNode, now, until: now + everyMs * TURN_INTERVALS });
  }

  /** Who asks during a look waits for another. */
  #look(): Promise<boolean> {
    const looked = this.#looking.catch(() => undefined).then(() => this.#lookOnce());
    this.#looking = looked;
    return looked;
  }

  async #lookOnce(): Promise<boolean> {
    if (!this.#isBehind || this.#stopped) return false;
    // What comes meanwhile is seen the next time: one that waited for it would never be done.
    this.#isBehind = false;
    let hasMore = true;
    try {
      hasMore = await this.#parts.look();
      return hasMore;
    } finally {
      this.#isBehind ||= hasMore;
    }
  }
}
