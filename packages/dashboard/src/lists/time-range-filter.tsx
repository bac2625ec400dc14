/** The time range of a list: a named range, or two typed times in the selected time zone. */

import { useState } from "react";
import { plainTime } from "../ui/time.tsx";
import { fieldValueOf, instantOfField, useTimeZone, zoneName } from "../ui/time-zone.ts";
import { RANGES, type TimeRange } from "./time-range.ts";

interface TimeRangeFilterProps {
  value: TimeRange;
  onChange: (value: TimeRange) => void;
}

const CUSTOM = "custom";

export function TimeRangeFilter({ value, onChange }: TimeRangeFilterProps) {
  useTimeZone();
  const [typing, setTyping] = useState(false);
  const hasInstants = value.from !== undefined || value.to !== undefined;
  const isCustom = hasInstants || typing;
  function choose(name: string) {
    setTyping(name === CUSTOM);
    if (name !== CUSTOM) onChange(name === "" ? {} : { range: name });
  }
  return (
    <>
      <select
        className="input"
        aria-label="Time range"
        value={isCustom ? CUSTOM : (value.range ?? "")}
        onChange={({ target }) => choose(target.value)}
      >
        <option value="">All time</option>
        {Object.entries(RANGES).map(([name, { label }]) => (
          <option key={name} value={name}>
            {label}
          </option>
        ))}
        <option value={CUSTOM}>{hasInstants ? rangeText(value) : "From … to …"}</option>
      </select>
      {isCustom && (
        <>
          <InstantField label="From" at={value.from} onChange={(from) => onChange(instants(from, value.to))} />
          <InstantField label="To" at={value.to} onChange={(to) => onChange(instants(value.from, to))} />
        </>
      )}
    </>
  );
}

function instants(from: number | null | undefined, to: number | null | undefined): TimeRange {
  return { ...(typeof from === "number" && { from }), ...(typeof to === "number" && { to }) };
}

function rangeText({ from, to }: TimeRange): string {
  return `${from === undefined ? "…" : plainTime(from)} – ${to === undefined ? "…" : plainTime(to)}`;
}

interface InstantFieldProps {
  label: string;
  at: number | undefined;
  onChange: (at: number | null) => void;
}

/** Applies on Enter or when the field loses focus: a partly typed date is not valid. */
function InstantField({ label, at, onChange }: InstantFieldProps) {
  const apply = (text: string) => {
    const typed = instantOfField(text);
    if (typed !== (at === undefined ? null : Math.floor(at / 1_000) * 1_000)) onChange(typed);
  };
  return (
    <input
      key={`${at} ${zoneName()}`}
      className="input instant"
      type="datetime-local"
      step={1}
      aria-label={`${label} (${zoneName()})`}
      title={`${label}, in ${zoneName()}`}
      defaultValue={at === undefined ? "" : fieldValueOf(at)}
      onBlur={({ target }) => apply(target.value)}
      onKeyDown={({ key, currentTarget }) => key === "Enter" && apply(currentTarget.value)}
    />
  );
}
