/** When a failed call is retried. */

import { MINUTE_MS, SECOND_MS } from "@inlet/protocol";

/** After the first failure, the second, and so on; then always the last. */
const DELAYS_MS = [15 * SECOND_MS, 30 * SECOND_MS, ...[1, 2, 5, 10, 20, 40, 60, 120].map((minutes) => minutes * MINUTE_MS)];
/** Jitter: calls that failed together are not retried together. */
const JITTER_MAX_MS = 30 * SECOND_MS;

export interface Backoff {
  /** `attempt` is the failed one, counted from 0. A delay requested by the app takes precedence. */
  retryAt(now: number, attempt: number, retryAfterMs: number | null): number;
}

/** With `intervalMs`, every delay has this length. */
export function createBackoff(intervalMs: number | null, random: () => number = Math.random): Backoff {
  return {
    retryAt(now, attempt, retryAfterMs) {
      if (retryAfterMs !== null) return now + retryAfterMs;
      if (intervalMs !== null) return now + intervalMs;
      const delayMs = DELAYS_MS[Math.min(attempt, DELAYS_MS.length - 1)] as number;
      return now + delayMs + Math.floor(random() * JITTER_MAX_MS);
    },
  };
}
