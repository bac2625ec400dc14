/** Length and age of the queue, on the time axis of the other charts. The service keeps this history in memory, for six hours. */

import { useMemo } from "react";
import type { Stats } from "../api/stats.ts";
import { ChartCard } from "../ui/chart-card.tsx";
import { plural } from "../ui/numbers.ts";
import { duration } from "../ui/time.tsx";

const EMPTY = "The service keeps six hours of history, starting when it starts. The first points appear within a minute.";

interface QueueChartsProps {
  queue: Stats["queue"];
  /** The time axis, which is that of the other charts. */
  from: number;
  to: number;
}

export function QueueCharts({ queue, from, to }: QueueChartsProps) {
  const { history } = queue;
  const { times, length, age } = useMemo(
    () => ({
      times: history.map(({ at }) => Date.parse(at)),
      length: [{ label: "Waiting or running", colour: "--info", values: history.map(({ waiting }) => waiting) }],
      age: [{ label: "Seconds", colour: "--calm", values: history.map(({ oldestAgeMs }) => Math.round(oldestAgeMs / 100) / 10) }],
    }),
    [history],
  );
  const span = useMemo(() => ({ from, to }), [from, to]);
  const longest = history.reduce((found, { waiting }) => Math.max(found, waiting), 0);
  const oldest = history.reduce((found, { oldestAgeMs }) => Math.max(found, oldestAgeMs), 0);
  return (
    <>
      <ChartCard
        title="Queue length"
        series={length}
        times={times}
        label={`at most ${plural(longest, "call")} at a time`}
        empty={EMPTY}
        span={span}
      />
      <ChartCard
        title="Queue age"
        series={age}
        times={times}
        label={`the oldest call waited ${duration(oldest)}`}
        empty={EMPTY}
        span={span}
      />
    </>
  );
}
