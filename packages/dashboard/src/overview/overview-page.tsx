/** Overview: the health of the environment, and the first steps while it is empty. */

import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import { statsQuery } from "../api/queries.ts";
import type { Stats, StatsPoint } from "../api/stats.ts";
import { SpanButtons } from "../lists/span-buttons.tsx";
import { DEFAULT_SPAN, SPANS, type SpanName } from "../lists/span-search.ts";
import { environmentTitle } from "../shell/environment-names.ts";
import { ChartCard } from "../ui/chart-card.tsx";
import { count, plural, shortCount } from "../ui/numbers.ts";
import { ErrorState, SkeletonRows } from "../ui/states.tsx";
import { duration, useNow } from "../ui/time.tsx";
import { FirstSteps, useFirstSteps } from "./first-steps.tsx";
import { QueueCharts } from "./queue-charts.tsx";
import { RecentFailures } from "./recent-failures.tsx";

const REFRESH_MS = 10_000;

export function OverviewPage() {
  const { env } = useParams({ from: "/env/$env" });
  const { span = DEFAULT_SPAN } = useSearch({ from: "/env/$env/" });
  const navigate = useNavigate();
  const setSpan = (next: SpanName) => void navigate({ to: "/env/$env", params: { env }, search: { span: next }, replace: true });
  const to = Math.ceil(useNow(REFRESH_MS) / REFRESH_MS) * REFRESH_MS;
  const { data, error, refetch } = useQuery(statsQuery(env, to - SPANS[span], to));
  // Known before anything is shown below it, so that nothing moves.
  const progress = useFirstSteps(env);
  return (
    <div className="page">
      <div className="page-head">
        <h1>{environmentTitle(env)}</h1>
        <div className="actions">
          <SpanButtons span={span} onChange={setSpan} />
        </div>
      </div>
      {!progress || (!data && !error) ? (
        <SkeletonRows rows={6} height={60} />
      ) : (
        <>
          <FirstSteps env={env} progress={progress} />
          {data ? (
            <StatsSection env={env} stats={data} from={to - SPANS[span]} to={to} />
          ) : (
            <ErrorState error={error} title="Statistics could not be loaded" onRetry={() => void refetch()} />
          )}
        </>
      )}
      <RecentFailures env={env} />
    </div>
  );
}

function StatsSection({ env, stats, from, to }: { env: string; stats: Stats; from: number; to: number }) {
  const navigate = useNavigate();
  const { points, queue } = stats;
  const times = useMemo(() => points.map(({ at }) => Date.parse(at)), [points]);
  const series = useMemo(() => chartSeries(points), [points]);
  const sum = (field: keyof Omit<StatsPoint, "at">) => points.reduce((total, point) => total + point[field], 0);
  const ended = sum("runsCompleted") + sum("runsFailed");
  const choose = (page: "events" | "runs") => (start: number, end: number) =>
    void navigate({ to: `/env/$env/${page}`, params: { env }, search: { from: start, to: end } });
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
          onRange={choose("events")}
          label={`${plural(sum("accepted"), "event")} accepted`}
        />
        <ChartCard
          title="Duplicates and refusals"
          series={series.kept}
          times={times}
          label={`${sum("duplicates")} duplicates, ${sum("refused")} refused`}
        />
        <ChartCard
          title="Runs"
          series={series.runs}
          times={times}
          onRange={choose("runs")}
          label={`${plural(sum("runsStarted"), "run")} started`}
        />
        <ChartCard
          title="Failures"
          series={series.failures}
          times={times}
          bars
          onRange={choose("runs")}
          label={`${plural(sum("runsFailed"), "run")} failed`}
        />
        <QueueCharts queue={queue} from={from} to={to} />
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
