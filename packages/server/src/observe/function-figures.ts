/** Figures of a function over time: starts, ends, and how long runs waited and took, by interval. A pure function of its runs. */

import type { RunTiming } from "../store/contract/index.ts";

export interface Percentiles {
  p50: number;
  p95: number;
}

/** Runs count in the interval in which they were created. */
export interface FunctionPoint {
  at: number;
  created: number;
  completed: number;
  failed: number;
  cancelled: number;
  /** From the first call to the end; null if no run ended. */
  durationMs: Percentiles | null;
  /** From the creation to the first call; null if none was called. */
  queueDelayMs: Percentiles | null;
}

export interface FigureSpan {
  from: number;
  to: number;
  intervalMs: number;
}

/** One point for every interval, oldest first, including empty ones. */
export function functionFigures(runs: readonly RunTiming[], { from, to, intervalMs }: FigureSpan): FunctionPoint[] {
  const byInterval = Map.groupBy(runs, ({ createdAt }) => Math.floor((createdAt - from) / intervalMs));
  return Array.from({ length: Math.max(0, Math.ceil((to - from) / intervalMs)) }, (_, index) =>
    pointOf(from + index * intervalMs, byInterval.get(index) ?? []),
  );
}

function pointOf(at: number, runs: readonly RunTiming[]): FunctionPoint {
  const count = (status: RunTiming["status"]) => runs.filter((run) => run.status === status).length;
  return {
    at,
    created: runs.length,
    completed: count("completed"),
    failed: count("failed"),
    cancelled: count("cancelled"),
    durationMs: percentiles(
      runs.flatMap(({ startedAt, endedAt }) => (startedAt === null || endedAt === null ? [] : [endedAt - startedAt])),
    ),
    queueDelayMs: percentiles(runs.flatMap(({ createdAt, startedAt }) => (startedAt === null ? [] : [startedAt - createdAt]))),
  };
}

/** Nearest-rank percentiles: each is a value that occurred. */
export function percentiles(values: readonly number[]): Percentiles | null {
  if (values.length === 0) return null;
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) => Math.max(0, sorted[Math.ceil(share * sorted.length) - 1] as number);
  return { p50: at(0.5), p95: at(0.95) };
}
