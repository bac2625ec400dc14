/** Keeps the counts of event types close behind the events: every few seconds while some come in, and whenever somebody asks. */

import type { Logger } from "pino";
import type { EventStore, EventTypeStore } from "../store/contract/index.ts";

/** After a start there may be many to count: lists may have to wait while the read thread counts one stretch. */
const STRETCH_EVENTS = 5_000;
const COUNT_EVERY_MS = 2_000;
const STRETCHES_EACH_TIME = 40;
/** What a person who asks waits for at most, beside one stretch; the rest is counted behind the answer. */
const ASKED_MS = 15;

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
  #counting: Promise<unknown> = Promise.resolve();
  #isCounting = false;
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
      if (this.#isBehind && !this.#isCounting) this.#countOn().catch((error) => log.warn({ err: error }, "counting event types failed"));
    }, COUNT_EVERY_MS).unref();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#timer) clearInterval(this.#timer);
    this.#unwatch?.();
    await this.#counting.catch(() => undefined);
  }

  /** Counts what is left, as far as that goes in a moment: all of it, unless the service has just started. */
  async catchUp(): Promise<void> {
    const deadline = Date.now() + ASKED_MS;
    while ((await this.#stretch()) && Date.now() < deadline);
  }

  async #countOn(): Promise<void> {
    this.#isCounting = true;
    try {
      for (let stretch = 0; stretch < STRETCHES_EACH_TIME && (await this.#stretch()); stretch++);
    } finally {
      this.#isCounting = false;
    }
  }

  /** One stretch at a time; who asks during one waits for another. True when that did not reach the last event. */
  #stretch(): Promise<boolean> {
    const counted = this.#counting.catch(() => undefined).then(() => this.#count());
    this.#counting = counted;
    return counted;
  }

  async #count(): Promise<boolean> {
    if (!this.#isBehind || this.#stopped) return false;
    // What comes meanwhile is counted the next time: one that waited for it would never be done.
    this.#isBehind = false;
    const isDone = await this.#parts.store.eventTypeCount({ limit: STRETCH_EVENTS });
    this.#isBehind ||= !isDone;
    return !isDone;
  }
}
