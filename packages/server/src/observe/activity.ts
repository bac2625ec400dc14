/**
 * Notes when webhooks, event names and functions were active, in memory, and adds it to the store every few seconds. What was noted since the
 * last write is lost if the process is killed: whoever concludes a silence from it asks the store once more.
 */

import type { Logger } from "pino";
import { type ActiveHour, type ActivityStore, type ActivitySubject, PARTS_PER_HOUR } from "../store/contract/index.ts";

const FLUSH_EVERY_MS = 5_000;
const HOUR_MS = 3_600_000;
const PART_MS = HOUR_MS / PARTS_PER_HOUR;
/** Bounds the memory used while the store is not writable, or by a sender of very many names. */
const HOURS_MAX = 20_000;

export interface ActivityParts {
  store: Pick<ActivityStore, "activityAdd">;
  log: Logger;
  now: () => number;
}

export class Activity {
  readonly #parts: ActivityParts;
  #hours = new Map<string, ActivitySubject & ActiveHour>();
  #flushing: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | null = null;

  constructor(parts: ActivityParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#timer ??= setInterval(() => void this.flush(), FLUSH_EVERY_MS).unref();
  }

  async stop(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer);
    await this.flush();
  }

  note(subject: ActivitySubject, lastAt = this.#parts.now()): void {
    const at = lastAt - (lastAt % HOUR_MS);
    this.#add({ ...subject, at, parts: 1 << Math.floor((lastAt - at) / PART_MS), lastAt });
  }

  /** Adds what was noted to the store. Never throws: what cannot be added now is added later. */
  flush(): Promise<void> {
    this.#flushing = this.#flushing.then(() => this.#write());
    return this.#flushing;
  }

  async #write(): Promise<void> {
    const hours = [...this.#hours.values()];
    if (hours.length === 0) return;
    this.#hours = new Map();
    try {
      await this.#parts.store.activityAdd({ hours });
    } catch (error) {
      for (const hour of hours) this.#add(hour);
      this.#parts.log.debug({ err: error }, "activity could not be written; this will be retried");
    }
  }

  #add(hour: ActivitySubject & ActiveHour): void {
    const key = `${hour.environmentId} ${hour.kind} ${hour.at} ${hour.subject}`;
    const known = this.#hours.get(key);
    if (known) {
      known.parts |= hour.parts;
      known.lastAt = Math.max(known.lastAt, hour.lastAt);
    } else if (this.#hours.size < HOURS_MAX) this.#hours.set(key, hour);
  }
}
