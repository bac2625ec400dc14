/** Runs over time, above the list: those that started, and those that failed. */

import { ListChart, type ListFigure } from "../lists/list-chart.tsx";
import { plural } from "../ui/numbers.ts";
import type { RunSearch } from "./run-search.ts";

const FIGURES: readonly ListFigure[] = [
  { figure: "runsStarted", label: "Started", colour: "--info" },
  { figure: "runsFailed", label: "Failed", colour: "--bad" },
];

export function RunsChart({ env, search, onRange }: { env: string; search: RunSearch; onRange: (from: number, to: number) => void }) {
  return (
    <ListChart
      env={env}
      search={search}
      figures={FIGURES}
      title="All runs of the environment. Drag to select a time range"
      describe={([started = 0, failed = 0]) => `${plural(started, "run")} started and ${failed} failed in this time range`}
      onRange={onRange}
    />
  );
}
