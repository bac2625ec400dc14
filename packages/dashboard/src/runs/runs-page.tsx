/** Runs: the live list with its filters. */

import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { functionsQuery } from "../api/queries.ts";
import { RUN_STATUSES, type RunItem } from "../api/types.ts";
import { filtersOf, RANGES } from "../events/event-search.ts";
import { LiveButton } from "../events/live-button.tsx";
import { Icon } from "../ui/icon.tsx";
import { plural } from "../ui/numbers.ts";
import { EmptyState, ErrorState, SkeletonRows } from "../ui/states.tsx";
import { Time } from "../ui/time.tsx";
import { useWidth } from "../ui/use-width.ts";
import { VirtualList } from "../ui/virtual-list.tsx";
import { RunDuration } from "./run-duration.tsx";
import type { RunSearch } from "./run-search.ts";
import { RunStatusBadge, statusWord } from "./run-status.tsx";
import { startOf } from "./run-table.tsx";
import { useRunList } from "./use-run-list.ts";

const NARROW_PX = 620;

export function RunsPage() {
  const { env } = useParams({ from: "/env/$env" });
  const search = useSearch({ from: "/env/$env/runs" });
  const navigate = useNavigate();
  const [paused, setPaused] = useState(false);
  const { from } = filtersOf(search.range ? { range: search.range } : {});
  const list = useRunList(env, { status: search.status, function: search.function, from }, paused);
  const set = (changes: Partial<Record<keyof RunSearch, string>>) =>
    void navigate({
      to: "/env/$env/runs",
      params: { env },
      search: Object.fromEntries(Object.entries({ ...search, ...changes }).filter(([, value]) => value)),
      replace: true,
    });
  return (
    <div className="page full">
      <div className="list-side grow">
        <div className="list-head">
          <div className="page-head">
            <h1>Runs</h1>
            <LiveButton state={list.live} paused={paused} onPause={setPaused} />
          </div>
          <RunFilters env={env} search={search} onChange={set} />
        </div>
        <RunScroll env={env} list={list} filtered={Object.keys(search).length > 0} />
      </div>
    </div>
  );
}

function RunFilters({
  env,
  search,
  onChange,
}: {
  env: string;
  search: RunSearch;
  onChange: (changes: Partial<Record<keyof RunSearch, string>>) => void;
}) {
  const { data: functions = [] } = useQuery({ ...functionsQuery(env), retry: false });
  const known = functions.some(({ id }) => id === search.function);
  return (
    <search className="filters" aria-label="Filter runs">
      <div className="segments">
        {["", ...RUN_STATUSES].map((status) => (
          <button
            key={status}
            type="button"
            className="segment"
            aria-pressed={(search.status ?? "") === status}
            onClick={() => onChange({ status })}
          >
            {status === "" ? "All" : statusWord(status as RunItem["status"])}
          </button>
        ))}
      </div>
      <select
        className="input"
        aria-label="Function"
        value={search.function ?? ""}
        onChange={({ target }) => onChange({ function: target.value })}
      >
        <option value="">Any function</option>
        {search.function && !known && <option value={search.function}>{search.function}</option>}
        {functions.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
      <select
        className="input"
        aria-label="Time range"
        value={search.range ?? ""}
        onChange={({ target }) => onChange({ range: target.value })}
      >
        <option value="">All time</option>
        {Object.entries(RANGES).map(([name, { label }]) => (
          <option key={name} value={name}>
            {label}
          </option>
        ))}
      </select>
    </search>
  );
}

function RunScroll({ env, list: { pages, runs }, filtered }: { env: string; list: ReturnType<typeof useRunList>; filtered: boolean }) {
  const scroller = useRef<HTMLDivElement>(null);
  const narrow = useWidth(scroller) < NARROW_PX;
  return (
    <div className="list-scroll" ref={scroller}>
      {pages.isPending ? (
        <SkeletonRows rows={14} height={42} />
      ) : pages.isError && runs.length === 0 ? (
        <ErrorState error={pages.error} onRetry={() => void pages.refetch()} />
      ) : runs.length === 0 ? (
        <NoRuns env={env} filtered={filtered} />
      ) : (
        <VirtualList
          items={runs}
          rowHeight={narrow ? 62 : 42}
          idOf={({ id }) => id}
          label="Runs"
          scroller={scroller}
          onEnd={pages.hasNextPage && !pages.isFetchingNextPage ? () => void pages.fetchNextPage() : undefined}
          foot={<p className="list-foot quiet small">{pages.hasNextPage ? "Loading more…" : `${plural(runs.length, "run")} in total`}</p>}
          row={(run) => <RunRow env={env} run={run} narrow={narrow} />}
        />
      )}
    </div>
  );
}

function RunRow({ env, run, narrow }: { env: string; run: RunItem; narrow: boolean }) {
  return (
    <Link to="/env/$env/runs/$id" params={{ env, id: run.id }} className={`run-row${narrow ? " narrow" : ""}`}>
      <span>
        <RunStatusBadge status={run.status} />
      </span>
      <span className="strong cut">{run.function.name}</span>
      <span className="second cut run-start">
        <Icon name={run.cron ? "clock" : "bolt"} size={13} className="quiet" /> {startOf(run)}
      </span>
      <span className="second num run-took">
        <RunDuration run={run} />
      </span>
      <span className="quiet run-time">
        <Time at={run.createdAt} />
      </span>
    </Link>
  );
}

function NoRuns({ env, filtered }: { env: string; filtered: boolean }) {
  if (filtered) return <EmptyState icon="search" title="No run matches these filters" />;
  return (
    <EmptyState icon="activity" title="No runs yet">
      <p>A run starts when an event arrives that a function subscribes to.</p>
      <Link to="/env/$env/functions" params={{ env }} className="button">
        View functions
      </Link>
    </EmptyState>
  );
}
