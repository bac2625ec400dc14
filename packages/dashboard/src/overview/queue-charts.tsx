/** How long the queue was and how old its oldest call, as the service remembers it: for six hours, and since it was started. */

import { useMemo } from "react";
import type { Stats } from "../api/types.ts";
import { ChartCard } from "../ui/chart-card.tsx";
import { plural } from "../ui/numbers.ts";
import { duration } from "../ui/time.tsx";

const EMPTY = "The service remembers this for six hours, since it was started. Come back in a minute.";

export function QueueCharts({ queue }: { queue: Stats["queue"] }) {
  const { history } = queue;
  const { times, length, age } = useMemo(
    () => ({
      times: history.map(({ at }) => Date.parse(at)),
      length: [{ label: "Waiting or under way", colour: "--info", values: history.map(({ waiting }) => waiting) }],
      age: [{ label: "Seconds", colour: "--calm", values: history.map(({ oldestAgeMs }) => Math.round(oldestAgeMs / 100) / 10) }],
    }),
    [history],
  );
  const most = history.reduce((found, { waiting }) => Math.max(found, waiting), 0);
  const oldest = history.reduce((found, { oldestAgeMs }) => Math.max(found, oldestAgeMs), 0);
  return (
    <>
      <ChartCard title="Queue length" series={length} times={times} label={`at most ${plural(most, "call")} at a time`} empty={EMPTY} />
      <ChartCard title="Queue age" series={age} times={times} label={`the oldest call waited ${duration(oldest)}`} empty={EMPTY} />
    </>
  );
}
