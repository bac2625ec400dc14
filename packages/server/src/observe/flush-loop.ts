/** Writes what was noted in memory to the store, every few seconds and when asked, one write at a time. What was noted since the last write is lost if the process is killed. */

import type { Logger } from "pino";
import { sharedRefresh } from "../store/contract/index.ts";

export interface FlushLoopParts {
  everyMs: number;
  /** Takes what was noted and writes it. If it throws, it has put it back. */
  write(): Promise<void>;
  /** For the log: "<what> could not be written". */
  what: string;
  log: Logger;
}

export class FlushLoop {
  readonly #parts: FlushLoopParts;
  #timer: NodeJS.Timeout | null = null;

  constructor(parts: FlushLoopParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#timer ??= setInterval(() => void this.flush(), this.#parts.everyMs).unref();
  }

  /** After a last write. */
  async stop(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer);
    await this.flush();
  }

  /** Never throws: what cannot be written now is written later. Calls made during a write share the next one. */
  readonly flush = sharedRefresh(() => this.#write());

  async #write(): Promise<void> {
    const { write, what, log } = this.#parts;
    await write().catch((error) => log.debug({ err: error }, `${what} could not be written; this will be retried`));
  }
}
