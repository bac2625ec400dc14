/** When a quota will be reached, from what was used in the last days and today. */

export interface UsageDay {
  at: string;
  eventsAccepted: number;
  bytes: number;
}

export interface Forecast {
  /** Used on average on a day, of the last days; null if nothing was. */
  perDay: number | null;
  /** When the quota will be reached at the rate of today; null if it is not in sight. */
  reachedAt: number | null;
}

const DAY_MS = 86_400_000;
/** So far into the day, the rate of today tells something. */
const ENOUGH_MS = 600_000;

/** A quota that begins again each day: reached today at the rate of today, or on another day like the last ones. */
export function forecastDay(days: readonly UsageDay[], figure: "eventsAccepted" | "bytes", limit: number | null, now: number): Forecast {
  const midnight = now - (now % DAY_MS);
  const past = days.filter(({ at }) => Date.parse(at) < midnight);
  const today = days.find(({ at }) => Date.parse(at) === midnight)?.[figure] ?? 0;
  const perDay = past.length === 0 ? null : past.reduce((sum, day) => sum + day[figure], 0) / past.length;
  if (limit === null) return { perDay, reachedAt: null };
  if (today >= limit) return { perDay, reachedAt: now };
  const elapsed = now - midnight;
  const rate = elapsed >= ENOUGH_MS ? today / elapsed : (perDay ?? 0) / DAY_MS;
  const reachedAt = rate > 0 ? now + (limit - today) / rate : null;
  return { perDay, reachedAt: reachedAt !== null && reachedAt < midnight + DAY_MS ? reachedAt : null };
}

/** Stored bytes grow by what is accepted, until the oldest are removed. */
export function forecastStored(days: readonly UsageDay[], used: number, limit: number | null, now: number): Forecast {
  const { perDay } = forecastDay(days, "bytes", null, now);
  if (limit === null || perDay === null || perDay === 0) return { perDay, reachedAt: null };
  return { perDay, reachedAt: now + (Math.max(0, limit - used) / perDay) * DAY_MS };
}
