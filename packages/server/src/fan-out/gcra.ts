/**
 * The generic cell rate algorithm: one start each period / limit, and some at once after a pause. All it remembers of a key is one
 * instant, `tat` (theoretical arrival time): when the next start would be due if starts came evenly. Pure: the caller keeps `tat`
 * and has the clock.
 */

export interface Rate {
  limit: number;
  periodMs: number;
  /** How many starts beyond one may come at once. */
  burst: number;
}

/** `tat` is null for a key not seen before, or not for so long that it was forgotten. */
export interface RateState {
  tat: number | null;
}

export type RateOutcome =
  | { allowed: true; tat: number }
  /** Nothing is used up: `tat` is as before. */
  | { allowed: false; tat: number; delayUntil: number };

/** Whether one more may start now; if not, when the next may. */
export function rateCheck({ tat }: RateState, now: number, { limit, periodMs, burst }: Rate): RateOutcome {
  const intervalMs = periodMs / limit;
  const due = Math.max(tat ?? now, now);
  const allowedFrom = due - burst * intervalMs;
  if (allowedFrom > now) return { allowed: false, tat: due, delayUntil: Math.ceil(allowedFrom) };
  return { allowed: true, tat: due + intervalMs };
}

/**
 * Takes the next place, at once or later: what throttling does, where nothing is dropped. Each waiting start has its own
 * `startAt`, one interval apart.
 */
export function rateReserve({ tat }: RateState, now: number, { limit, periodMs, burst }: Rate): { startAt: number; tat: number } {
  const intervalMs = periodMs / limit;
  const due = Math.max(tat ?? now, now);
  return { startAt: Math.max(now, Math.ceil(due - burst * intervalMs)), tat: due + intervalMs };
}

/** Once this instant has passed, a key may be forgotten: a new state would say the same. */
export function rateForgetAt(tat: number): number {
  return Math.ceil(tat);
}

/** Of a rate limit: a tenth of it may come at once. 5 a minute are one now and one every 12 s, not five at once. */
export function rateLimitRate({ limit, periodMs }: Omit<Rate, "burst">): Rate {
  return { limit, periodMs, burst: Math.floor(limit / 10) };
}
