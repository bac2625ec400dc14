/** Time, as everything that waits is given it: so that a test can decide when it passes. */

export interface Clock {
  /** In milliseconds since 1970. */
  now(): number;
  /** Calls `work` once the time has passed. Returns how to take that back. */
  after(delayMs: number, work: () => void): () => void;
}

/** Timers of the process. `now` is the store's: the same for every node that shares it. */
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
