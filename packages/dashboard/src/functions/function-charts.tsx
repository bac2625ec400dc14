/** Figures of a function over time: throughput, failure rate, duration and queue delay. */

import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useMemo } from "react";
import { type FunctionStats, functionStatsQuery, type Percentiles } from "../api/function-stats.ts";
import { SPANS, type SpanName } from "../lists/span-search.ts";
import { ChartCard } from "../ui/chart-card.tsx";
import { count, plural } from "../ui/numbers.ts";
import { ErrorState, SkeletonRows } from "../ui/states.tsx";
import { duration, useNow } from "../ui/time.tsx";

const REFRESH_MS = 10_000;

export function FunctionCharts({ env, id, span }: { env: string; id: string; span: SpanName }) {
  const to = Math.ceil(useNow(REFRESH_MS) / REFRESH_MS) * REFRESH_MS;
  const { data, error, refetch } = useQuery(functionStatsQuery(env, id, to - SPANS[span], to));
  if (error) return <ErrorState error={error} title="Figures could not be loaded" onRetry={() => void refetch()} />;
  if (!data) return <SkeletonRows rows={4} height={60} />;
  return <Charts env={env} id={id} stats={data} />;
}

function Charts({ env, id, stats }: { env: string; id: string; stats: FunctionStats }) {
  const navigate = useNavigate();
  const { points } = stats;
  const times = useMemo(() => points.map(({ at }) => Date.parse(at)), [points]);
  const series = useMemo(() => chartSeries(stats), [stats]);
  const sum = (field: "created" | "failed" | "completed") => points.reduce((total, point) => total + point[field], 0);
  const ended = sum("completed") + sum("failed");
  const choose = (from: number, to: number) => void navigate({ to: "/env/$env/runs", params: { env }, search: { function: id, from, to } });
  const rate = ended === 0 ? "no run ended" : `${((sum("failed") / ended) * 100).toFixed(1)} % of ended runs failed`;
  const common = { times, onRange: choose };
  return (
    <>
      <div className="cards">
        <ChartCard {...common} title="Throughput" series={series.runs} bars label={`${plural(sum("created"), "run")} created`} />
        <ChartCard {...common} title="Failure rate" series={series.rate} unit={percent} label={rate} />
        <ChartCard {...common} title="Duration" series={series.duration} unit={duration} label="median and 95th percentile" />
        <ChartCard {...common} title="Queue delay" series={series.delay} unit={duration} label="median and 95th percentile" />
      </div>
      {stats.runs >= stats.runsMax && (
        <p className="quiet small">Computed from the newest {count(stats.runsMax)} runs of this time range.</p>
      )}
    </>
  );
}

function percent(value: number): string {
  return `${Number.isInteger(value) ? value : value.toFixed(1)} %`;
}

function chartSeries({ points }: FunctionStats) {
  const shares = points.map(({ completed, failed }) => (completed + failed === 0 ? null : (failed / (completed + failed)) * 100));
  const both = (read: (point: FunctionStats["points"][number]) => Percentiles | null) => [
    { label: "p50", colour: "--info", values: points.map((point) => read(point)?.p50 ?? null) },
    { label: "p95", colour: "--calm", values: points.map((point) => read(point)?.p95 ?? null) },
  ];
  return {
    runs: [
      { label: "Created", colour: "--info", values: points.map(({ created }) => created) },
      { label: "Failed", colour: "--bad", values: points.map(({ failed }) => failed) },
    ],
    rate: [{ label: "Failed", colour: "--bad", values: shares }],
    duration: both(({ durationMs }) => durationMs),
    delay: both(({ queueDelayMs }) => queueDelayMs),
  };
}
