/** The rows of the runs list, with enough detail to distinguish runs without opening them. */

import { Link } from "@tanstack/react-router";
import { memo, useRef } from "react";
import { useMayRepair } from "../api/session.ts";
import type { RunItem } from "../api/types.ts";
import { useKeptPosition } from "../lists/kept-position.ts";
import { Icon } from "../ui/icon.tsx";
import { plural } from "../ui/numbers.ts";
import { EmptyState, ErrorState, SkeletonRows } from "../ui/states.tsx";
import { Time } from "../ui/time.tsx";
import { useWidth } from "../ui/use-width.ts";
import { VirtualList } from "../ui/virtual-list.tsx";
import { RunDuration } from "./run-duration.tsx";
import type { RunSearch } from "./run-search.ts";
import { RunStatusBadge } from "./run-status.tsx";
import { startOf } from "./run-table.tsx";
import type { useRunList } from "./use-run-list.ts";

const NARROW_PX = 760;
const COLUMNS = ["Status", "Function and Run ID", "Event", "Error", "Attempts", "Duration", "Created"];

interface RunRowsProps {
  env: string;
  list: ReturnType<typeof useRunList>;
  search: RunSearch;
  chosen: ReadonlySet<string>;
  onChoose: (chosen: ReadonlySet<string>) => void;
}

export function RunRows({ env, list: { pages, runs }, search, chosen, onChoose }: RunRowsProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const narrow = useWidth(scroller) < NARROW_PX;
  const mayRepair = useMayRepair();
  const toggle = (id: string) => {
    const next = new Set(chosen);
    if (!next.delete(id)) next.add(id);
    onChoose(next);
  };
  useKeptPosition(scroller, { path: "/env/$env/runs", env, search, isReady: runs.length > 0 });
  const isAll = runs.length > 0 && runs.every(({ id }) => chosen.has(id));
  return (
    <div className="list-scroll" ref={scroller}>
      {pages.isPending ? (
        <SkeletonRows rows={14} height={52} />
      ) : pages.isError && runs.length === 0 ? (
        <ErrorState error={pages.error} onRetry={() => void pages.refetch()} />
      ) : runs.length === 0 && !pages.hasNextPage ? (
        <NoRuns env={env} filtered={Object.keys(search).length > 0} />
      ) : (
        <>
          <RunColumns
            narrow={narrow}
            mayRepair={mayRepair}
            isAll={isAll}
            onAll={() => onChoose(isAll ? new Set() : new Set(runs.map(({ id }) => id)))}
          />
          <VirtualList
            items={runs}
            rowHeight={narrow ? 102 : 54}
            idOf={({ id }) => id}
            label="Runs"
            scroller={scroller}
            onSelect={toggle}
            onEnd={pages.hasNextPage && !pages.isFetchingNextPage && !pages.isError ? () => void pages.fetchNextPage() : undefined}
            foot={
              pages.isError ? (
                <ErrorState error={pages.error} title="More runs could not be loaded" onRetry={() => void pages.fetchNextPage()} />
              ) : (
                <p className="list-foot quiet small">{pages.hasNextPage ? "Loading more…" : `${plural(runs.length, "run")} in total`}</p>
              )
            }
            row={(run) => (
              <div className={`run-item${chosen.has(run.id) ? " chosen" : ""}`}>
                {mayRepair && (
                  <input type="checkbox" aria-label={`Select run ${run.id}`} checked={chosen.has(run.id)} onChange={() => toggle(run.id)} />
                )}
                <RunRow env={env} run={run} narrow={narrow} />
              </div>
            )}
          />
        </>
      )}
    </div>
  );
}

function RunColumns({ narrow, mayRepair, isAll, onAll }: { narrow: boolean; mayRepair: boolean; isAll: boolean; onAll: () => void }) {
  return (
    <div className="run-item list-columns">
      {mayRepair && <input type="checkbox" aria-label="Select all loaded runs" checked={isAll} onChange={onAll} />}
      {narrow ? (
        <span className="run-all">Select all loaded runs</span>
      ) : (
        <span className="run-row">
          {COLUMNS.map((title) => (
            <span key={title}>{title}</span>
          ))}
        </span>
      )}
    </div>
  );
}

/** Is rendered again only when its run changes, not with every scroll. */
const RunRow = memo(function RunRow({ env, run, narrow }: { env: string; run: RunItem; narrow: boolean }) {
  return (
    <Link to="/env/$env/runs/$id" params={{ env, id: run.id }} className={`run-row${narrow ? " narrow" : ""}`}>
      <span>
        <RunStatusBadge status={run.status} />
      </span>
      <span className="run-function">
        <span className="strong cut">{run.function.name}</span>
        <span className="quiet small mono cut">{run.id}</span>
      </span>
      <span className="run-event">
        <span className="second cut">
          <Icon name={run.cron ? "clock" : "bolt"} size={13} className="quiet" /> {startOf(run)}
        </span>
        <span className="quiet small mono cut" title={run.event?.preview}>
          {run.event?.preview}
        </span>
      </span>
      <span className="run-error" title={run.error ? errorText(run.error) : undefined}>
        {run.error && errorText(run.error)}
      </span>
      <span className="second num run-attempts" title={`${plural(run.failedAttempts, "failed attempt")}`}>
        {run.failedAttempts > 0 && `${run.failedAttempts} failed`}
      </span>
      <span className="second num run-took">
        <RunDuration run={run} />
      </span>
      <span className="quiet run-time">
        <Time at={run.createdAt} />
      </span>
    </Link>
  );
});

function errorText({ name, message }: { name: string; message: string }): string {
  return `${name}: ${message}`;
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
