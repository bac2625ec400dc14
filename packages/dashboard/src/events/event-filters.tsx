/** The filter bar above the list. All filters are part of the URL. */

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { eventTypesQuery } from "../api/queries.ts";
import { useHasArchive } from "../api/session.ts";
import { useLatestSearch } from "../lists/latest-search.ts";
import { withoutRange } from "../lists/time-range.ts";
import { TimeRangeFilter } from "../lists/time-range-filter.tsx";
import { TypedFilter } from "../lists/typed-filter.tsx";
import { WhereFilter } from "../lists/where-filter.tsx";
import { Icon } from "../ui/icon.tsx";
import { type EventSearch, isFiltered, readEventSearch, withArchived } from "./event-search.ts";

const SUGGESTIONS_MAX = 200;

type Changes = Partial<Record<keyof EventSearch, string | number | boolean | undefined>>;

interface EventFiltersProps {
  env: string;
  search: EventSearch;
  onChange: (search: EventSearch) => void;
}

export function EventFilters({ env, search, onChange }: EventFiltersProps) {
  const { data: types = [] } = useQuery({ ...eventTypesQuery(env), retry: false });
  // Changing the keys resets the fields, including text that is still being typed.
  const [clearings, setClearings] = useState(0);
  const hasArchive = useHasArchive();
  const latest = useLatestSearch(readEventSearch);
  const set = (changes: Changes) =>
    onChange(Object.fromEntries(Object.entries({ ...latest(), ...changes }).filter(([, value]) => value !== undefined && value !== "")));
  return (
    <search className="filters" aria-label="Filter events">
      <TypedFilter
        key={`name ${clearings}`}
        label="Event name; may end in *"
        placeholder="Name, or shop/*"
        value={search.name}
        list="event-names"
        onChange={(name) => set({ name })}
      />
      <datalist id="event-names">
        {types.slice(0, SUGGESTIONS_MAX).map(({ name }) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      {!search.archived && <StoredFilters search={search} clearings={clearings} set={set} />}
      <TimeRangeFilter value={search} onChange={(range) => onChange({ ...withoutRange(latest()), ...range })} />
      {!search.archived && (
        <Switch label="Internal events" isOn={search.internal === true} onChange={(isOn) => set({ internal: isOn || undefined })} />
      )}
      {(hasArchive || search.archived) && (
        <Switch label="Archived" isOn={search.archived === true} onChange={(isOn) => onChange(withArchived(search, isOn))} />
      )}
      {isFiltered(search) && (
        <button
          type="button"
          className="button bare"
          onClick={() => {
            setClearings(clearings + 1);
            onChange({});
          }}
        >
          <Icon name="x" size={14} /> Clear
        </button>
      )}
    </search>
  );
}

interface StoredFiltersProps {
  search: EventSearch;
  clearings: number;
  set: (changes: Changes) => void;
}

/** What events in the store can be found by, and archived ones cannot. */
function StoredFilters({ search, clearings, set }: StoredFiltersProps) {
  return (
    <>
      <TypedFilter
        key={`text ${clearings}`}
        label="Text in the payload"
        placeholder="Text in the payload"
        value={search.q}
        onChange={(q) => set({ q })}
      />
      <TypedFilter key={`id ${clearings}`} label="Dedup id" placeholder="Dedup id" value={search.id} onChange={(id) => set({ id })} />
      <select className="input" aria-label="Source" value={search.source ?? ""} onChange={({ target }) => set({ source: target.value })}>
        <option value="">Any source</option>
        <option value="key">Event API</option>
        <option value="webhook">Webhooks</option>
        <option value="function">Functions</option>
        <option value="internal">Service</option>
        {search.source && !["key", "webhook", "function", "internal"].includes(search.source) && (
          <option value={search.source}>{search.source}</option>
        )}
      </select>
      <select className="input" aria-label="Match" value={search.matched ?? ""} onChange={({ target }) => set({ matched: target.value })}>
        <option value="">Matched and unmatched</option>
        <option value="true">Matched</option>
        <option value="false">Unmatched</option>
      </select>
      <WhereFilter key={`where ${clearings}`} value={search.where} onChange={(where) => set({ where })} />
    </>
  );
}

function Switch({ label, isOn, onChange }: { label: string; isOn: boolean; onChange: (isOn: boolean) => void }) {
  return (
    <label className="switch">
      <input type="checkbox" checked={isOn} onChange={({ target }) => onChange(target.checked)} />
      {label}
    </label>
  );
}
