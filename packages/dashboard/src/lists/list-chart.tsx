/** Figures over time, above a list. Dragging selects a time range. */

import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { statsQuery } from "../api/queries.ts";
import type { StatsPoint } from "../api/stats.ts";
import { firstKept } from "../api/stats-bars.ts";
import { Chart } from "../ui/chart.tsx";
import { messageOf } from "../ui/states.tsx";
import { useNow } from "../ui/time.tsx";
import { RANGES, type TimeRange } from "./time-range.ts";

const DEFAULT_SPAN_MS = 24 * 3_600_000;
const REFRESH_MS = 15_000;

/** One colour of the chart; drawn in this order, later ones in front. */
export interface ListFigure {
  figure: keyof Omit<StatsPoint, "at">;
  label: string;
  colour: string;
}

interface ListChartProps {
  env: string;
  search: TimeRange;
  figures: readonly ListFigure[];
  title: string;
  /** The accessible description, from the sums of the figures. */
  describe: (sums: readonly number[]) => string;
  onRange: (from: number, to: number) => void;
}

export function ListChart({ env, search, figures, title, describe, onRange }: ListChartProps) {
  const now = Math.ceil(useNow(REFRESH_MS) / REFRESH_MS) * REFRESH_MS;
  const to = search.range ? now : (search.to ?? now);
  const wanted = search.range ? now - (RANGES[search.range]?.ms ?? DEFAULT_SPAN_MS) : (search.from ?? to - DEFAULT_SPAN_MS);
  const from = firstKept(wanted, to);
  const { data, error } = useQuery(statsQuery(env, from, to));
  const times = useMemo(() => data?.points.map(({ at }) => Date.parse(at)) ?? [], [data]);
  const series = useMemo(
    () => figures.map(({ figure, label, colour }) => ({ label, colour, values: data?.points.map((point) => point[figure]) ?? [] })),
    [data, figures],
  );
  if (error) return <div className="events-chart quiet small">The chart could not be loaded: {messageOf(error)}</div>;
  const sums = series.map(({ values }) => values.reduce((sum, value) => sum + value, 0));
  return (
    <div className="events-chart" title={title}>
      {times.length > 0 && <Chart times={times} series={series} height={72} bars bare label={describe(sums)} onRange={onRange} />}
    </div>
  );
}
