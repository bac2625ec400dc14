/**
 * The generic cell rate algorithm: one start per period / limit, and a burst after a pause. Its only state per key is one
 * time, `tat` (theoretical arrival time): when the next start would be due if starts were evenly spaced. Pure: the caller stores what
 * rememberRate returns, and provides the clock.
 */

export interface Rate {
  limit: number;
  periodMs: number;
  /** How many starts beyond one may happen at once. */
  burst: number;
}

/** What is stored for a key: a time of the past and a number, neither of which depends on a rate. So a rate that is changed holds at once. */
interface Remembered {
  /** When this was stored. */
  at: number;
  /** How many intervals were used up then: at most burst + 1, and none or fewer if nothing started. */
  used: number;
}

/** `tat` is null for a key that was never seen, or has expired. */
export interface RateState {
  tat: number | null;
}

export type RateOutcome =
  | { allowed: true; tat: number }
  /** Nothing is consumed: `tat` is unchanged. */
  | { allowed: false; tat: number; delayUntil: number };

/** Whether one more may start now; if not, when the next may. */
export function rateCheck({ tat }: RateState, now: number, { limit, periodMs, burst }: Rate): RateOutcome {
  const intervalMs = periodMs / limit;
  const due = Math.max(tat ?? now, now);
  const allowedFrom = due - burst * intervalMs;
  if (allowedFrom > now) return { allowed: false, tat: due, delayUntil: Math.ceil(allowedFrom) };
  return { allowed: true, tat: due + intervalMs };
}

export function rememberRate(tat: number, now: number, { limit, periodMs }: Rate): string {
  return JSON.stringify({ at: now, used: ((tat - now) * limit) / periodMs } satisfies Remembered);
}

/**
 * The `tat` of a key at the rate in force now. A larger burst that was used up before counts only as far as this rate allows one: the next may start
 * an interval after the last.
 */
export function recallRate(remembered: string | null, { limit, periodMs, burst }: Rate): number | null {
  // A node of version 0.3.0 that works beside newer ones reads what they store as NaN, and stores that.
  if (remembered === null || remembered === "NaN") return null;
  // A number is a `tat` that such a version stored.
  const known = JSON.parse(remembered) as Remembered | number;
  if (typeof known === "number") return known;
  return known.at + (Math.min(known.used, burst + 1) * periodMs) / limit;
}

export interface ThrottleOutcome {
  count: number;
  /** For the next call. */
  remember: string;
  expiresAt: number;
  /** When the next may start. */
  nextAt: number;
}

/** How many of the waiting ones may start now: for throttles, which drop nothing. */
export function throttleAdmit(remembered: string | null, now: number, rate: Rate, wanted: number): ThrottleOutcome {
  let tat = recallRate(remembered, rate);
  for (let count = 0; ; count++) {
    const outcome = rateCheck({ tat }, now, rate);
    if (count < wanted && outcome.allowed) tat = outcome.tat;
    else {
      const kept = tat ?? now;
      return {
        count,
        remember: rememberRate(kept, now, rate),
        expiresAt: rateForgetAt(kept),
        nextAt: outcome.allowed ? now : outcome.delayUntil,
      };
    }
  }
}

/** After this time a key may be deleted: a new state would be equal. */
export function rateForgetAt(tat: number): number {
  return Math.ceil(tat);
}

/** Without a configured burst, a tenth of a rate limit may start at once: with 10 a minute, two now and then one every 6 s. */
export function rateLimitRate({ limit, periodMs, burst }: Omit<Rate, "burst"> & { burst: number | null }): Rate {
  return { limit, periodMs, burst: burst ?? Math.floor(limit / 10) };
}
