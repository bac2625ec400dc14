/** The clock of everything that waits, so that a test can control the time. */

export interface Clock {
  /** In milliseconds since 1970. */
  now(): number;
  /** Calls `work` once the time has passed. Returns a function that cancels it. */
  after(delayMs: number, work: () => void): () => void;
}

/** Timers of the process. `now` is the store's time: the same for every node that shares it. */
export function systemClock(now: () => number): Clock {
  return {
    now,
    after(delayMs, work) {
      const timer = setTimeout(work, delayMs);
      return () => clearTimeout(timer);
    },
  };
}

export function sleepOn(clock: Clock, delayMs: number): Promise<void> {
  return new Promise((resolve) => clock.after(delayMs, resolve));
}
