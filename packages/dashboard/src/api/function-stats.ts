/** Figures of one function over time, grouped into at most as many points as a chart can show. */

import { queryOptions } from "@tanstack/react-query";
import { call } from "./client.ts";
import { keepForSubject } from "./same-subject.ts";
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

export interface FunctionFigures {
  id: string;
  created: number;
  completed: number;
  failed: number;
  cancelled: number;
  durationMs: Percentiles | null;
}

/** As many as the service answers for at a time. */
const FIGURES_IDS_MAX = 100;

/** Figures of the last 24 hours, by function. */
export const functionFiguresQuery = (env: string, ids: readonly string[]) =>
  queryOptions({
    queryKey: ["function-figures", env, ids],
    queryFn: async () => {
      const pages = Array.from({ length: Math.ceil(ids.length / FIGURES_IDS_MAX) }, (_, n) =>
        ids.slice(n * FIGURES_IDS_MAX, (n + 1) * FIGURES_IDS_MAX),
      );
      const found: FunctionFigures[] = [];
      for (const page of pages)
        found.push(...(await call<FunctionFigures[]>("/functions/figures", { env, query: { ids: page.join(",") } })));
      return new Map(found.map((figures) => [figures.id, figures]));
    },
    refetchInterval: 30_000,
  });

/** The service computes figures from this many runs at most. */
const RUNS_MAX = 10_000;
const POINTS_MAX = 120;

export const functionStatsQuery = (env: string, id: string, from: number, to: number) =>
  queryOptions({
    queryKey: ["function-stats", env, id, from, to],
    queryFn: async (): Promise<FunctionStats> => {
      const query = { from, to, interval: intervalFor(from, to), points: POINTS_MAX };
      const stats = await call<FunctionStats>(`/functions/${encodeURIComponent(id)}/stats`, { env, query });
      return { ...stats, runsMax: RUNS_MAX };
    },
    placeholderData: keepForSubject(["function-stats", env, id]),
    gcTime: 60_000,
  });
