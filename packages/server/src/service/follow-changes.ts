/** A change by another node takes effect here within a moment. */

import type { Logger } from "pino";
import type { Store, StoreTopic } from "../store/contract/index.ts";

/** What a node keeps of the store in memory. */
export interface Cache {
  refresh(): Promise<void>;
}

export class ChangeFollower {
  readonly #caches = new Map<StoreTopic, Cache>();
  readonly stop: () => void;

  constructor(store: Pick<Store, "storeWatch">, log: Logger) {
    this.stop = store.storeWatch((topic) =>
      this.#caches
        .get(topic)
        ?.refresh()
        .catch((error) => log.warn({ err: error, topic }, "changes by another node could not be read; this will be retried")),
    );
  }

  /** Call this before the cache is read for the first time: a change that is made during that read is then read as well. */
  follow(topic: StoreTopic, cache: Cache): void {
    this.#caches.set(topic, cache);
  }
}
