/** What all sweepers have in common: small transactions until nothing is left, again after a while. */

import type { Logger } from "pino";

export interface SweeperParts {
  /** For the log: "removing <what> failed". */
  what: string;
  /** Looks at up to `limit` things and removes those that have expired; says how many it dealt with. Fewer than `limit`: nothing is left. */
  removeSome(limit: number): Promise<number>;
  log: Logger;
  everyMs?: number;
}

const EVERY_MS = 60_000;
/** Small enough that one transaction of a sweeper delays an accept by no more than a few milliseconds. */
const REMOVED_PER_TRANSACTION = 500;

export class Sweeper {
  readonly #parts: SweeperParts;
  #timer: NodeJS.Timeout | null = null;
  #sweeping: Promise<unknown> = Promise.resolve();
  #stopped = false;

  constructor(parts: SweeperParts) {
    this.#parts = parts;
  }

  start(): void {
    const { what, log, everyMs = EVERY_MS } = this.#parts;
    this.#timer ??= setInterval(() => {
      this.#sweeping = this.sweep().catch((error) => log.warn({ err: error }, `removing ${what} failed`));
    }, everyMs).unref();
  }

  /** Removes everything that has expired; says how much that was. */
  async sweep(): Promise<number> {
    let total = 0;
    for (let removed = REMOVED_PER_TRANSACTION; removed === REMOVED_PER_TRANSACTION && !this.#stopped; total += removed) {
      removed = await this.#parts.removeSome(REMOVED_PER_TRANSACTION);
    }
    return total;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#timer) clearInterval(this.#timer);
    await this.#sweeping;
  }
}
