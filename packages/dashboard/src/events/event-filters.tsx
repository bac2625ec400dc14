/** The filter bar above the list. All filters are part of the URL. */

import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { eventTypesQuery } from "../api/queries.ts";
import { Icon } from "../ui/icon.tsx";
import { type EventSearch, isFiltered, RANGES } from "./event-search.ts";

const DEBOUNCE_MS = 300;
const SUGGESTIONS_MAX = 200;

interface EventFiltersProps {
  env: string;
  search: EventSearch;
  onChange: (search: EventSearch) => void;
}

export function EventFilters({ env, search, onChange }: EventFiltersProps) {
  const { data: types = [] } = useQuery({ ...eventTypesQuery(env), retry: false });
  // Changing the keys resets the fields, including text that is still being typed.
  const [clearings, setClearings] = useState(0);
  const set = (changes: Partial<Record<keyof EventSearch, string | number | undefined>>) =>
    onChange(Object.fromEntries(Object.entries({ ...search, ...changes }).filter(([, value]) => value !== undefined && value !== "")));
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
      <select
        className="input"
        aria-label="Time range"
        value={search.range ?? (search.from === undefined && search.to === undefined ? "" : "custom")}
        onChange={({ target }) => set({ range: target.value, from: undefined, to: undefined })}
      >
        <option value="">All time</option>
        {Object.entries(RANGES).map(([name, { label }]) => (
          <option key={name} value={name}>
            {label}
          </option>
        ))}
        {(search.from !== undefined || search.to !== undefined) && <option value="custom">{spanText(search)}</option>}
      </select>
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

function spanText({ from, to }: EventSearch): string {
  const text = (at: number | undefined) =>
    at === undefined ? "…" : new Date(at).toLocaleString(undefined, { dateStyle: "short", timeStyle: "short" });
  return `${text(from)} – ${text(to)}`;
}

interface TypedFilterProps {
  label: string;
  placeholder: string;
  value: string | undefined;
  list?: string;
  onChange: (value: string) => void;
}

/** A text filter that applies once the user stops typing. */
export function TypedFilter({ label, placeholder, value = "", list, onChange }: TypedFilterProps) {
  const [text, setText] = useState(value);
  // Other filters may change before the timer fires, so always call the latest function.
  const change = useRef(onChange);
  change.current = onChange;
  /** Set while the user is typing. */
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  useEffect(() => {
    if (timer.current === undefined) setText(value);
  }, [value]);
  function settle(typed: string) {
    clearTimeout(timer.current);
    timer.current = undefined;
    change.current(typed);
  }
  function type(typed: string) {
    setText(typed);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => settle(typed), DEBOUNCE_MS);
  }
  return (
    <input
      className="input"
      type="search"
      aria-label={label}
      placeholder={placeholder}
      list={list}
      value={text}
      spellCheck={false}
      onChange={({ target }) => type(target.value)}
      onKeyDown={({ key }) => key === "Enter" && settle(text)}
    />
  );
}
