/**
 * Notes when webhooks, event names and functions were active, in memory, and adds it to the store every few seconds. What was noted since the
 * last write is lost if the process is killed: whoever concludes a silence from it asks the store once more.
 */

import { HOUR_MS } from "@inlet/protocol";
import type { Logger } from "pino";
import {
  type ActiveHour,
  type ActivityStore,
  type ActivitySubject,
  PART_MS,
  type Store,
  writeByDatabase,
} from "../store/contract/index.ts";
import { FlushLoop } from "./flush-loop.ts";

const FLUSH_EVERY_MS = 5_000;
/** Bounds the memory used while the store is not writable, or by a sender of very many names. */
const HOURS_MAX = 20_000;

export interface ActivityParts {
  store: Pick<ActivityStore, "activityAdd"> & Pick<Store, "storeDatabaseOf">;
  log: Logger;
  now: () => number;
}

export class Activity {
  readonly #parts: ActivityParts;
  #hours = new Map<string, ActivitySubject & ActiveHour>();
  readonly #loop: FlushLoop;

  constructor(parts: ActivityParts) {
    this.#parts = parts;
    this.#loop = new FlushLoop({ everyMs: FLUSH_EVERY_MS, write: () => this.#write(), what: "activity", log: parts.log });
  }

  start(): void {
    this.#loop.start();
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  note(subject: ActivitySubject, lastAt = this.#parts.now()): void {
    const at = lastAt - (lastAt % HOUR_MS);
    this.#add({ ...subject, at, parts: 1 << Math.floor((lastAt - at) / PART_MS), lastAt });
  }

  /** Adds what was noted to the store. Never throws. */
  flush(): Promise<void> {
    return this.#loop.flush();
  }

  async #write(): Promise<void> {
    const hours = [...this.#hours.values()];
    if (hours.length === 0) return;
    this.#hours = new Map();
    const { store } = this.#parts;
    await writeByDatabase(
      store,
      hours,
      (some) => store.activityAdd({ hours: some }),
      (left) => {
        for (const hour of left) this.#add(hour);
      },
    );
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
