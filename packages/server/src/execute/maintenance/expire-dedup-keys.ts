/** Sweeper: removes dedup keys whose window has passed, so that the guard against duplicates does not grow for ever. */

import type { Logger } from "pino";
import type { DedupKeyStore } from "../../store/contract/index.ts";

export interface ExpireDedupKeysParts {
  store: DedupKeyStore;
  /** Keys first seen at or before the returned instant guard nothing any more. */
  seenUntil: () => number;
  log: Logger;
  everyMs?: number;
}

const EVERY_MS = 60_000;
/** Small enough that one transaction of the sweeper delays an accept by no more than a few milliseconds. */
const KEYS_PER_TRANSACTION = 500;

export class ExpireDedupKeys {
  readonly #parts: ExpireDedupKeysParts;
  #timer: NodeJS.Timeout | null = null;
  #sweeping: Promise<unknown> = Promise.resolve();
  #stopped = false;

  constructor(parts: ExpireDedupKeysParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#timer ??= setInterval(() => {
      this.#sweeping = this.sweep().catch((error) => this.#parts.log.warn({ err: error }, "removing expired dedup keys failed"));
    }, this.#parts.everyMs ?? EVERY_MS).unref();
  }

  /** Removes everything that has expired; says how many keys that were. */
  async sweep(): Promise<number> {
    const { store, seenUntil } = this.#parts;
    let total = 0;
    for (let removed = KEYS_PER_TRANSACTION; removed === KEYS_PER_TRANSACTION && !this.#stopped; total += removed) {
      removed = await store.dedupKeyExpireMany({ seenUntil: seenUntil(), limit: KEYS_PER_TRANSACTION });
    }
    return total;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#timer) clearInterval(this.#timer);
    await this.#sweeping;
  }
}
