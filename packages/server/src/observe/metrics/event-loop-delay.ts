/** How late timers fire: the time for which other work blocked the event loop. */

import type { Histogram } from "prom-client";

const SAMPLE_EVERY_MS = 200;

export class EventLoopDelay {
  readonly #histogram: Histogram;
  #timer: NodeJS.Timeout | null = null;

  constructor(histogram: Histogram) {
    this.#histogram = histogram;
  }

  start(): void {
    let expectedAt = performance.now() + SAMPLE_EVERY_MS;
    this.#timer ??= setInterval(() => {
      const now = performance.now();
      this.#histogram.observe(Math.max(0, now - expectedAt) / 1_000);
      expectedAt = now + SAMPLE_EVERY_MS;
    }, SAMPLE_EVERY_MS).unref();
  }

  stop(): void {
    if (this.#timer) clearInterval(this.#timer);
  }
}
