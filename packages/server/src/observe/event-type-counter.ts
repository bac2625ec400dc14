/** Keeps the counts of event types close behind the events: every few seconds while some come in, and whenever somebody asks. */

import type { Logger } from "pino";
import type { EventStore, EventTypeStore } from "../store/contract/index.ts";

/** After a start there may be many to count: one stretch takes the read thread 20 to 80 ms. */
const STRETCH_EVENTS = 20_000;
const COUNT_EVERY_MS = 2_000;
/** What a person who asks waits for at most; the rest is counted behind the answer. */
const STRETCHES_PER_REQUEST = 10;

export interface EventTypeCounterParts {
  store: EventTypeStore & Pick<EventStore, "eventWatch">;
  log: Logger;
}

export class EventTypeCounter {
  readonly #parts: EventTypeCounterParts;
  #timer: NodeJS.Timeout | null = null;
  #unwatch: (() => void) | null = null;
  /** At start too: what was committed before the last end may not have been counted. */
  #isBehind = true;
  #counting: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(parts: EventTypeCounterParts) {
    this.#parts = parts;
  }

  start(): void {
    const { store, log } = this.#parts;
    this.#unwatch ??= store.eventWatch(() => {
      this.#isBehind = true;
    });
    this.#timer ??= setInterval(() => {
      if (this.#isBehind) this.catchUp().catch((error) => log.warn({ err: error }, "counting event types failed"));
    }, COUNT_EVERY_MS).unref();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#timer) clearInterval(this.#timer);
    this.#unwatch?.();
    await this.#counting.catch(() => undefined);
  }

  /** Counts what is left, as far as that goes in a moment. One count at a time; who asks during one waits for another. */
  catchUp(): Promise<void> {
    this.#counting = this.#counting.catch(() => undefined).then(() => this.#count());
    return this.#counting;
  }

  async #count(): Promise<void> {
    for (let stretch = 0; stretch < STRETCHES_PER_REQUEST && this.#isBehind && !this.#stopped; stretch++) {
      this.#isBehind = false;
      // A commit of anything, of these very counts too, sets it again; counting once more in vain is cheap.
      if (!(await this.#parts.store.eventTypeCount({ limit: STRETCH_EVENTS }))) this.#isBehind = true;
    }
  }
}
