/** Statistics over time, grouped into at most as many bars as a chart can show. */

import type { Stats, StatsPoint } from "./stats.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** The service returns at most 1,500 points. */
const MINUTES_SPAN_MAX_MS = 24 * HOUR_MS + 10 * MINUTE_MS;
const HOURS_SPAN_MAX_MS = 60 * DAY_MS;
const BARS = 96;

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

/** Sums neighbouring points, so that they fit into the chart. */
export function inBars(stats: Stats): Stats {
  const size = Math.ceil(stats.points.length / BARS);
  if (size <= 1) return stats;
  const points: StatsPoint[] = [];
  for (let start = 0; start < stats.points.length; start += size) points.push(sum(stats.points.slice(start, start + size)));
  return { ...stats, points };
}

function sum(points: readonly StatsPoint[]): StatsPoint {
  const total: StatsPoint = { ...(points[0] as StatsPoint) };
  for (const point of points.slice(1))
    for (const figure of Object.keys(point) as (keyof StatsPoint)[]) if (figure !== "at") total[figure] += point[figure];
  return total;
}
