/** The filter bar above the runs. All filters are part of the URL. */

import { RUN_STATUSES, type RunStatus } from "../api/types.ts";
import { useLatestSearch } from "../lists/latest-search.ts";
import { withoutRange } from "../lists/time-range.ts";
import { TimeRangeFilter } from "../lists/time-range-filter.tsx";
import { TypedFilter } from "../lists/typed-filter.tsx";
import { WhereFilter } from "../lists/where-filter.tsx";
import { Icon } from "../ui/icon.tsx";
import { FunctionFilter } from "./function-filter.tsx";
import { type RunSearch, readRunSearch } from "./run-search.ts";
import { statusWord } from "./run-status.tsx";

interface RunFiltersProps {
  env: string;
  search: RunSearch;
  onChange: (search: RunSearch) => void;
}

export function RunFilters({ env, search, onChange }: RunFiltersProps) {
  const latest = useLatestSearch(readRunSearch);
  const set = (changes: Partial<Record<keyof RunSearch, string>>) =>
    onChange(Object.fromEntries(Object.entries({ ...latest(), ...changes }).filter(([, value]) => value)));
  return (
    <search className="filters" aria-label="Filter runs">
      <StatusFilter value={search.status} onChange={(status) => set({ status })} />
      <FunctionFilter env={env} value={search.function} onChange={(fn) => set({ function: fn })} />
      <TimeRangeFilter value={search} onChange={(range) => onChange({ ...withoutRange(latest()), ...range })} />
      <TypedFilter label="Text in the error" placeholder="Text in the error" value={search.error} onChange={(error) => set({ error })} />
      <TypedFilter label="Event ID" placeholder="Event ID" value={search.event} onChange={(event) => set({ event: event.trim() })} />
      <WhereFilter value={search.where} onChange={(where) => set({ where })} />
      {search.job && (
        <button type="button" className="chip" title="Show runs of any job" onClick={() => set({ job: "" })}>
          job {search.job} <Icon name="x" size={12} />
        </button>
      )}
      {search.errorPattern && (
        <button type="button" className="chip" title="Show runs with any error" onClick={() => set({ errorPattern: "" })}>
          error {search.errorPattern} <Icon name="x" size={12} />
        </button>
      )}
      {search.rerun && (
        <button type="button" className="chip" title="Show runs whether they were rerun or not" onClick={() => set({ rerun: "" })}>
          {search.rerun === "false" ? "not rerun" : "rerun since"} <Icon name="x" size={12} />
        </button>
      )}
      {Object.keys(search).length > 0 && (
        <button type="button" className="button bare" onClick={() => onChange({})}>
          <Icon name="x" size={14} /> Clear
        </button>
      )}
    </search>
  );
}

function StatusFilter({ value, onChange }: { value: RunStatus | undefined; onChange: (status: string) => void }) {
  return (
    <div className="segments">
      {(["", ...RUN_STATUSES] as const).map((status) => (
        <button key={status} type="button" className="segment" aria-pressed={(value ?? "") === status} onClick={() => onChange(status)}>
          {status === "" ? "All" : statusWord(status)}
        </button>
      ))}
    </div>
  );
}
