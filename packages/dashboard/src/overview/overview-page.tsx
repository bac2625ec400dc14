/** Overview: the health of the environment, and the first steps while it is empty. */

import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { statsQuery } from "../api/queries.ts";
import type { Stats, StatsPoint } from "../api/types.ts";
import { environmentTitle } from "../shell/environment-names.ts";
import { ChartCard } from "../ui/chart-card.tsx";
import { count, plural, shortCount } from "../ui/numbers.ts";
import { ErrorState, SkeletonRows } from "../ui/states.tsx";
import { duration, useNow } from "../ui/time.tsx";
import { FirstSteps } from "./first-steps.tsx";
import { QueueCharts } from "./queue-charts.tsx";
import { RecentFailures } from "./recent-failures.tsx";

const SPANS = { "1h": 3_600_000, "24h": 86_400_000, "7d": 7 * 86_400_000 } as const;
type SpanName = keyof typeof SPANS;
const REFRESH_MS = 10_000;

export function OverviewPage() {
  const { env } = useParams({ from: "/env/$env" });
  const [span, setSpan] = useState<SpanName>("24h");
  const to = Math.ceil(useNow(REFRESH_MS) / REFRESH_MS) * REFRESH_MS;
  const { data, error, refetch } = useQuery(statsQuery(env, to - SPANS[span], to));
  return (
    <div className="page">
      <div className="page-head">
        <h1>{environmentTitle(env)}</h1>
        <div className="actions">
          <div className="segments">
            {(Object.keys(SPANS) as SpanName[]).map((name) => (
              <button key={name} type="button" className="segment" aria-pressed={name === span} onClick={() => setSpan(name)}>
                {name}
              </button>
            ))}
          </div>
        </div>
      </div>
      <FirstSteps env={env} />
      {error ? (
        <ErrorState error={error} title="Statistics could not be loaded" onRetry={() => void refetch()} />
      ) : data ? (
        <StatsSection env={env} stats={data} />
      ) : (
        <SkeletonRows rows={6} height={60} />
      )}
      <RecentFailures env={env} />
    </div>
  );
}

function StatsSection({ env, stats }: { env: string; stats: Stats }) {
  const navigate = useNavigate();
  const { points, queue } = stats;
  const times = useMemo(() => points.map(({ at }) => Date.parse(at)), [points]);
  const series = useMemo(() => chartSeries(points), [points]);
  const sum = (field: keyof Omit<StatsPoint, "at">) => points.reduce((total, point) => total + point[field], 0);
  const ended = sum("runsCompleted") + sum("runsFailed");
  const choose = (from: number, to: number) => void navigate({ to: "/env/$env/events", params: { env }, search: { from, to } });
  return (
    <>
      <dl className="tiles">
        <Tile label="Events accepted" value={sum("accepted")} />
        <Tile label="Duplicates ignored" value={sum("duplicates")} />
        <Tile label="Refused" value={sum("refused")} kind={sum("refused") > 0 ? "warn" : ""} />
        <Tile label="Runs started" value={sum("runsStarted")} />
        <Tile
          label="Runs failed"
          value={sum("runsFailed")}
          kind={sum("runsFailed") > 0 ? "bad" : ""}
          note={ended > 0 ? `${((sum("runsFailed") / ended) * 100).toFixed(1)} % of ended runs` : ""}
        />
        <Tile
          label="Waiting in the queue"
          value={queue.waiting}
          note={queue.oldestAgeMs === 0 ? "no calls overdue" : `oldest ${duration(queue.oldestAgeMs)}`}
        />
      </dl>
      <div className="cards">
        <ChartCard
          title="Events"
          series={series.events}
          times={times}
          bars
          onRange={choose}
          label={`${plural(sum("accepted"), "event")} accepted`}
        />
        <ChartCard
          title="Duplicates and refusals"
          series={series.kept}
          times={times}
          label={`${sum("duplicates")} duplicates, ${sum("refused")} refused`}
        />
        <ChartCard title="Runs" series={series.runs} times={times} label={`${plural(sum("runsStarted"), "run")} started`} />
        <ChartCard title="Failures" series={series.failures} times={times} bars label={`${plural(sum("runsFailed"), "run")} failed`} />
        <QueueCharts queue={queue} />
      </div>
    </>
  );
}

function chartSeries(points: readonly StatsPoint[]) {
  const values = (field: keyof Omit<StatsPoint, "at">) => points.map((point) => point[field]);
  return {
    events: [{ label: "Accepted", colour: "--accent", values: values("accepted") }],
    kept: [
      { label: "Duplicates", colour: "--calm", values: values("duplicates") },
      { label: "Refused", colour: "--warn", values: values("refused") },
    ],
    runs: [
      { label: "Started", colour: "--info", values: values("runsStarted") },
      { label: "Completed", colour: "--ok", values: values("runsCompleted") },
    ],
    failures: [{ label: "Failed", colour: "--bad", values: values("runsFailed") }],
  };
}

function Tile({ label, value, kind = "", note = "" }: { label: string; value: number; kind?: string; note?: string }) {
  return (
    <div className={`tile ${kind}`}>
      <dt>{label}</dt>
      <dd className="tile-value num" title={count(value)}>
        {shortCount(value)}
      </dd>
      {note && <dd className="quiet small">{note}</dd>}
    </div>
  );
}
