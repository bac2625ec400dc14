/** Events over time, above the list. */

import { ListChart, type ListFigure } from "../lists/list-chart.tsx";
import { plural } from "../ui/numbers.ts";
import type { EventSearch } from "./event-search.ts";

const FIGURES: readonly ListFigure[] = [{ figure: "accepted", label: "Events", colour: "--accent" }];

export function EventsChart({ env, search, onRange }: { env: string; search: EventSearch; onRange: (from: number, to: number) => void }) {
  return (
    <ListChart
      env={env}
      search={search}
      figures={FIGURES}
      title="All events of the environment. Drag to select a time range"
      describe={([events = 0]) => `${plural(events, "event")} in this time range`}
      onRange={onRange}
    />
  );
}
