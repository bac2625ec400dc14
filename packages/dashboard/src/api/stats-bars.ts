/** Which statistics a chart asks for: no more points than it can show. */

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** The service returns at most 1,500 points. */
const MINUTES_SPAN_MAX_MS = 24 * HOUR_MS + 10 * MINUTE_MS;
const HOURS_SPAN_MAX_MS = 60 * DAY_MS;
/** As many as a chart can show. */
export const BARS = 96;

/** The service keeps figures for 400 days. */
const KEPT_MS = 400 * DAY_MS;

/** A chart begins no earlier than the first day with figures. */
export function firstKept(from: number, to: number): number {
  return Math.max(from, to - KEPT_MS);
}

export function intervalFor(from: number, to: number): "minute" | "hour" | "day" {
  const span = to - from;
  if (span <= MINUTES_SPAN_MAX_MS) return "minute";
  return span <= HOURS_SPAN_MAX_MS ? "hour" : "day";
}
