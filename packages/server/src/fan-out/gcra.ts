/**
 * The generic cell rate algorithm: one start per period / limit, and a burst after a pause. Each start uses up an interval, and as time goes
 * by, intervals are free again. Pure: the caller stores what `rememberUse` returns, and provides the clock.
 *
 * Everything is counted from a moment that is remembered: added to the time of day, intervals that are not whole milliseconds would be rounded.
 */

export interface Rate {
  limit: number;
  periodMs: number;
  /** How many starts beyond one may happen at once. */
  burst: number;
}

/** What is stored for a key: neither number depends on a rate, so a rate that is changed holds at once. */
export interface RateUse {
  at: number;
  /** How many intervals were used up then: at most burst + 1. */
  used: number;
}

export type RateOutcome = { allowed: true; use: RateUse } | { allowed: false; delayUntil: number };

/** So little may be missing because numbers are rounded. */
const ROUNDING_MS = 0.001;

/** A clock that is set back by less lets nothing through too early. */
const CLOCK_SET_BACK_MS = 3_600_000;

/** Whether one more may start now; if not, when the next may. `use` is null for a key that was never seen, or has expired. */
export function rateCheck(use: RateUse | null, now: number, rate: Rate): RateOutcome {
  const used = usedAt(use, now, rate);
  const missingMs = (used - rate.burst) * intervalOf(rate) - ROUNDING_MS;
  if (missingMs > 0) return { allowed: false, delayUntil: now + Math.ceil(missingMs) };
  return { allowed: true, use: { at: now, used: used + 1 } };
}

/**
 * A larger burst that was used up before counts only as far as this rate allows one: the next may start an interval after the last. What was noted
 * far ahead, by a clock that was wrong, counts for nothing: it would delay everything until then.
 */
function usedAt(use: RateUse | null, now: number, rate: Rate): number {
  if (!use || use.at > now + Math.max(rate.periodMs, CLOCK_SET_BACK_MS)) return 0;
  return Math.max(0, Math.min(use.used, rate.burst + 1) - (now - use.at) / intervalOf(rate));
}

function intervalOf({ limit, periodMs }: Rate): number {
  return periodMs / limit;
}

export function rememberUse(use: RateUse): string {
  return JSON.stringify(use);
}

export function recallUse(remembered: string | null, rate: Rate): RateUse | null {
  if (remembered === null) return null;
  const known = JSON.parse(remembered) as RateUse | number;
  // Version 0.3.0 stored when the next start would be due if starts were evenly spaced.
  return typeof known === "number" ? { at: known - (rate.burst + 1) * intervalOf(rate), used: rate.burst + 1 } : known;
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
  let use = recallUse(remembered, rate);
  let outcome = rateCheck(use, now, rate);
  let count = 0;
  for (; count < wanted && outcome.allowed; count++) {
    use = outcome.use;
    outcome = rateCheck(use, now, rate);
  }
  const kept = use ?? { at: now, used: 0 };
  const nextAt = outcome.allowed ? now : outcome.delayUntil;
  return { count, remember: rememberUse(kept), expiresAt: rateForgetAt(kept, rate), nextAt };
}

/** After this time a key may be deleted: a new state would be equal. */
export function rateForgetAt({ at, used }: RateUse, rate: Rate): number {
  return at + Math.ceil(Math.min(used, rate.burst + 1) * intervalOf(rate));
}

/** Without a configured burst, a tenth of a rate limit may start at once: with 10 a minute, two now and then one every 6 s. */
export function rateLimitRate({ limit, periodMs, burst }: Omit<Rate, "burst"> & { burst: number | null }): Rate {
  return { limit, periodMs, burst: burst ?? Math.floor(limit / 10) };
}
