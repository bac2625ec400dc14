/** Runs: the live list with filters and chart, and bulk actions. */

import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { lazy, Suspense, useMemo, useState } from "react";
import { LiveButton } from "../events/live-button.tsx";
import { type JobChoice, JobMenu } from "../jobs/job-menu.tsx";
import { ExportList } from "../lists/export-list.tsx";
import { SavedFilters } from "../lists/saved-filters.tsx";
import { withoutRange } from "../lists/time-range.ts";
import { useListFilters } from "../lists/use-list-filters.ts";
import { loadPart } from "../ui/load-part.ts";
import { BulkBar } from "./bulk-bar.tsx";
import { RunFilters } from "./run-filters.tsx";
import { RunRows } from "./run-rows.tsx";
import { type RunSearch, runFiltersOf } from "./run-search.ts";
import { useRunList } from "./use-run-list.ts";

const RunsChart = lazy(() => loadPart(() => import("./runs-chart.tsx")).then(({ RunsChart: component }) => ({ default: component })));

const CHOICES: readonly JobChoice[] = [
  { kind: "runs.rerun", label: "Rerun all runs of this list", icon: "refresh" },
  { kind: "runs.cancel", label: "Cancel all unfinished runs of this list", icon: "slash" },
];

export function RunsPage() {
  const { env } = useParams({ from: "/env/$env" });
  const search = useSearch({ from: "/env/$env/runs" });
  const navigate = useNavigate();
  const [paused, setPaused] = useState(false);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const filters = useListFilters(env, search, runFiltersOf);
  const list = useRunList(env, filters, paused);
  // A run that left the list is no longer selected, because the user cannot see it.
  const selected = useMemo(() => list.runs.filter(({ id }) => chosen.has(id)), [list.runs, chosen]);
  const setSearch = (next: RunSearch) => void navigate({ to: "/env/$env/runs", params: { env }, search: next, replace: true });
  return (
    <div className="page full">
      <div className="list-side grow">
        <div className="list-head">
          <div className="page-head">
            <h1>Runs</h1>
            <LiveButton state={list.live} paused={paused} onPause={setPaused} />
            <div className="actions">
              <JobMenu env={env} filter={filters} choices={CHOICES} />
              <ExportList env={env} path="/runs" query={filters} name={`runs-${env}`} />
              <SavedFilters env={env} page="runs" search={search} onChoose={setSearch} />
            </div>
          </div>
          <RunFilters env={env} search={search} onChange={setSearch} />
        </div>
        <Suspense fallback={<div className="events-chart" />}>
          <RunsChart env={env} search={search} onRange={(from, to) => setSearch({ ...withoutRange(search), from, to })} />
        </Suspense>
        <BulkBar env={env} selected={selected} onClear={() => setChosen(new Set())} />
        <RunRows env={env} list={list} search={search} chosen={chosen} onChoose={setChosen} />
      </div>
    </div>
  );
}
