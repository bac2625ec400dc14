/** Logs refusals without flooding the log: the first of each code at once, then a count. */

import type { ErrorCode } from "@inlet/protocol";
import type { Logger } from "pino";

const SUMMARY_MS = 10_000;

export class RefusalLog {
  readonly #log: Logger;
  readonly #counts = new Map<ErrorCode, number>();
  #timer: NodeJS.Timeout | null = null;

  constructor(log: Logger) {
    this.#log = log;
  }

  note(code: ErrorCode): void {
    const seen = this.#counts.get(code);
    if (seen === undefined) this.#log.info({ code }, "request refused");
    this.#counts.set(code, (seen ?? 0) + 1);
    this.#timer ??= setTimeout(() => this.#summarise(), SUMMARY_MS).unref();
  }

  stop(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#summarise();
  }

  #summarise(): void {
    this.#timer = null;
    for (const [code, count] of this.#counts) {
      if (count > 1) this.#log.info({ code, count: count - 1 }, "more requests refused");
    }
    this.#counts.clear();
  }
}
