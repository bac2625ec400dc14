/** Figures of one function over time, grouped into at most as many points as a chart can show. */

import { queryOptions } from "@tanstack/react-query";
import { call } from "./client.ts";
import { intervalFor } from "./stats-bars.ts";

export interface Percentiles {
  p50: number;
  p95: number;
}

export interface FunctionPoint {
  at: string;
  created: number;
  completed: number;
  failed: number;
  cancelled: number;
  durationMs: Percentiles | null;
  queueDelayMs: Percentiles | null;
}

export interface FunctionStats {
  /** How many runs the figures are based on. */
  runs: number;
  runsMax: number;
  points: FunctionPoint[];
}

/** The service computes figures from this many runs at most. */
const RUNS_MAX = 10_000;
const POINTS_MAX = 120;

export const functionStatsQuery = (env: string, id: string, from: number, to: number) =>
  queryOptions({
    queryKey: ["function-stats", env, id, from, to],
    queryFn: async (): Promise<FunctionStats> => {
      const query = { from, to, interval: intervalFor(from, to) };
      const stats = await call<FunctionStats>(`/functions/${encodeURIComponent(id)}/stats`, { env, query });
      return { ...stats, runsMax: RUNS_MAX, points: merged(stats.points) };
    },
    placeholderData: (before) => before,
    gcTime: 60_000,
  });

/** Counts are summed. Percentiles cannot be: the highest of neighbours is shown, so that no peak is hidden. */
function merged(points: readonly FunctionPoint[]): FunctionPoint[] {
  const size = Math.ceil(points.length / POINTS_MAX);
  if (size <= 1) return [...points];
  const groups = Array.from({ length: Math.ceil(points.length / size) }, (_, n) => points.slice(n * size, (n + 1) * size));
  return groups.map((group) => group.reduce(add));
}

function add(a: FunctionPoint, b: FunctionPoint): FunctionPoint {
  return {
    at: a.at,
    created: a.created + b.created,
    completed: a.completed + b.completed,
    failed: a.failed + b.failed,
    cancelled: a.cancelled + b.cancelled,
    durationMs: highest(a.durationMs, b.durationMs),
    queueDelayMs: highest(a.queueDelayMs, b.queueDelayMs),
  };
}

function highest(a: Percentiles | null, b: Percentiles | null): Percentiles | null {
  if (a === null || b === null) return a ?? b;
  return { p50: Math.max(a.p50, b.p50), p95: Math.max(a.p95, b.p95) };
}
