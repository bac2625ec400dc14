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

export interface ThrottleOutcome {
  count: number;
  /** As text, for the next time; null of a key not seen before. */
  remember: string;
  expiresAt: number;
  /** When the next may start. */
  nextAt: number;
}

/** How many of those that wait may start now: what throttling does, where nothing is dropped. */
export function throttleAdmit(remembered: string | null, now: number, rate: Rate, wanted: number): ThrottleOutcome {
  let tat = remembered === null ? null : Number(remembered);
  for (let count = 0; ; count++) {
    const outcome = rateCheck({ tat }, now, rate);
    if (count < wanted && outcome.allowed) tat = outcome.tat;
    else {
      const kept = tat ?? now;
      return { count, remember: String(kept), expiresAt: rateForgetAt(kept), nextAt: outcome.allowed ? now : outcome.delayUntil };
    }
  }
}

/** Once this instant has passed, a key may be forgotten: a new state would say the same. */
export function rateForgetAt(tat: number): number {
  return Math.ceil(tat);
}

/** Of a rate limit that names no burst, a tenth of it may come at once: 10 a minute are two now and then one every 6 s. */
export function rateLimitRate({ limit, periodMs, burst }: Omit<Rate, "burst"> & { burst: number | null }): Rate {
  return { limit, periodMs, burst: burst ?? Math.floor(limit / 10) };
}
