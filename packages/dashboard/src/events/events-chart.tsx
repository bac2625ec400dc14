/** Events over time, above the list. Dragging selects a time range. */

import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { statsQuery } from "../api/queries.ts";
import { Chart } from "../ui/chart.tsx";
import { plural } from "../ui/numbers.ts";
import { messageOf } from "../ui/states.tsx";
import { useNow } from "../ui/time.tsx";
import { type EventSearch, RANGES } from "./event-search.ts";

const DEFAULT_SPAN_MS = 24 * 3_600_000;
const REFRESH_MS = 15_000;

interface EventsChartProps {
  env: string;
  search: EventSearch;
  onRange: (from: number, to: number) => void;
}

export function EventsChart({ env, search, onRange }: EventsChartProps) {
  const now = Math.ceil(useNow(REFRESH_MS) / REFRESH_MS) * REFRESH_MS;
  const to = search.range ? now : (search.to ?? now);
  const from = search.range ? now - (RANGES[search.range]?.ms ?? DEFAULT_SPAN_MS) : (search.from ?? to - DEFAULT_SPAN_MS);
  const { data, error } = useQuery(statsQuery(env, from, to));
  const times = useMemo(() => data?.points.map(({ at }) => Date.parse(at)) ?? [], [data]);
  const series = useMemo(
    () => [{ label: "Events", colour: "--accent", values: data?.points.map(({ accepted }) => accepted) ?? [] }],
    [data],
  );
  if (error) return <div className="events-chart quiet small">The chart could not be loaded: {messageOf(error)}</div>;
  const total = data?.points.reduce((sum, { accepted }) => sum + accepted, 0) ?? 0;
  return (
    <div className="events-chart" title="All events of the environment. Drag to select a time range">
      {times.length > 0 && (
        <Chart
          times={times}
          series={series}
          height={72}
          bars
          bare
          label={`${plural(total, "event")} in this time range`}
          onRange={onRange}
        />
      )}
    </div>
  );
}
