/** Requests of a webhook over time: those that were accepted, and those that were refused. Dragging selects a time range. */

import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useMemo } from "react";
import { webhookStatsQuery } from "../api/queries.ts";
import { loadPart } from "../ui/load-part.ts";
import { plural } from "../ui/numbers.ts";
import { messageOf } from "../ui/states.tsx";
import { useNow } from "../ui/time.tsx";

const Chart = lazy(() => loadPart(() => import("../ui/chart.tsx")).then(({ Chart: component }) => ({ default: component })));

const REFRESH_MS = 15_000;
const DEFAULT_SPAN_MS = 86_400_000;

interface RequestsChartProps {
  webhookId: string;
  from: number | undefined;
  to: number | undefined;
  onRange: (from: number, to: number) => void;
}

export function RequestsChart({ webhookId, from, to, onRange }: RequestsChartProps) {
  const now = Math.ceil(useNow(REFRESH_MS) / REFRESH_MS) * REFRESH_MS;
  const end = to ?? now;
  const { data, error } = useQuery(webhookStatsQuery(webhookId, from ?? end - DEFAULT_SPAN_MS, end));
  const times = useMemo(() => data?.points.map(({ at }) => Date.parse(at)) ?? [], [data]);
  const [accepted, refused] = useMemo(() => {
    const points = data?.points ?? [];
    const count = (isWanted: (outcome: string) => boolean) =>
      points.map(({ outcomes }) => Object.entries(outcomes).reduce((sum, [outcome, n]) => sum + (isWanted(outcome) ? n : 0), 0));
    return [count((outcome) => TAKEN.has(outcome)), count((outcome) => !TAKEN.has(outcome))];
  }, [data]);
  if (error) return <div className="quiet small">The chart could not be loaded: {messageOf(error)}</div>;
  if (times.length === 0) return <div style={{ height: HEIGHT_PX }} />;
  const series = [
    { label: "Accepted", colour: "--info", values: accepted },
    { label: "Refused", colour: "--bad", values: refused },
  ];
  const label = `${plural(total(accepted), "request")} accepted and ${total(refused)} refused in this time range`;
  return (
    <div title="All requests of the webhook. Drag to select a time range">
      <Suspense fallback={<div style={{ height: HEIGHT_PX }} />}>
        <Chart times={times} series={series} height={HEIGHT_PX} bars bare label={label} onRange={onRange} />
      </Suspense>
    </div>
  );
}

const HEIGHT_PX = 72;
const TAKEN: ReadonlySet<string> = new Set(["accepted", "handshake"]);

function total(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
