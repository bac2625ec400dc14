/**
 * Times in the user's time zone or in UTC. The exact value, with zone and milliseconds, appears on hover; screens without
 * a pointer show times to the second instead of "3 min ago".
 */

import { useEffect, useState, useSyncExternalStore } from "react";
import { count } from "./numbers.ts";
import { timeFormat, useTimeZone } from "./time-zone.ts";

const CLOCK = { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" } as const;
const MILLISECONDS = { fractionalSecondDigits: 3 } as Intl.DateTimeFormatOptions;

const exact = timeFormat({ year: "numeric", month: "short", day: "2-digit", ...CLOCK, ...MILLISECONDS, timeZoneName: "short" });
const ofToday = timeFormat(CLOCK);
const ofTodayExact = timeFormat({ ...CLOCK, ...MILLISECONDS });
const ofThisYear = timeFormat({ month: "short", day: "2-digit", ...CLOCK });
const ofAnyYear = timeFormat({ year: "numeric", month: "short", day: "2-digit" });
const day = timeFormat({ year: "numeric", month: "numeric", day: "numeric" });

const DAY_MS = 86_400_000;

export function exactTime(at: string | number): string {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? String(at) : `${exact(date)}\n${date.toISOString()}`;
}

/** The shortest unambiguous text: the time for today, the day for this year, the full date otherwise. */
export function plainTime(at: string | number, now = Date.now()): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return String(at);
  if (day(now) === day(date)) return ofToday(date);
  return Math.abs(now - date.getTime()) < 300 * DAY_MS ? ofThisYear(date) : ofAnyYear(date);
}

/** The time of day with milliseconds, as on a timeline. */
export function preciseTime(at: string | number): string {
  return ofTodayExact(new Date(at));
}

interface TimeProps {
  at: string | number | null;
  /** "3 min ago"; the exact time appears on hover. */
  relative?: boolean;
  /** With date, milliseconds and zone. */
  full?: boolean;
}

export function Time({ at, relative = false, full = false }: TimeProps) {
  useTimeZone();
  const hasPointer = useHasPointer();
  const now = useNow(relative ? 10_000 : 60_000);
  if (at === null) return <span className="quiet">—</span>;
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return <time>{String(at)}</time>;
  return (
    <time dateTime={date.toISOString()} title={exactTime(at)}>
      {full ? exact(date) : relative && hasPointer ? ago(date.getTime(), now) : plainTime(at, now)}
    </time>
  );
}

const POINTER = "(hover: hover) and (min-width: 861px)";

/** One for all times of a page: a long list shows many, and renders them often. */
let pointer: MediaQueryList | null = null;

function pointerQuery(): MediaQueryList {
  pointer ??= matchMedia(POINTER);
  return pointer;
}

function onPointerChange(listener: () => void): () => void {
  const query = pointerQuery();
  query.addEventListener("change", listener);
  return () => query.removeEventListener("change", listener);
}

/** Whether an exact time can be shown on hover. */
function useHasPointer(): boolean {
  return useSyncExternalStore(onPointerChange, () => pointerQuery().matches);
}

/** "3 min ago". */
export function ago(at: number, now: number): string {
  const seconds = Math.max(0, Math.round((now - at) / 1_000));
  if (seconds < 5) return "just now";
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3_600) return `${Math.round(seconds / 60)} min ago`;
  if (seconds < 48 * 3_600) return `${Math.round(seconds / 3_600)} h ago`;
  return `${Math.round(seconds / 86_400)} days ago`;
}

/** The current time, updated at an interval. */
export function useNow(everyMs: number): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}

export function duration(ms: number): string {
  if (ms < 1) return ms === 0 ? "0 ms" : `${ms.toFixed(2)} ms`;
  if (ms < 1_000) return `${ms < 10 && !Number.isInteger(ms) ? ms.toFixed(1) : Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(ms < 10_000 ? 2 : 1)} s`;
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1_000)} s`;
  if (ms < 2 * DAY_MS) return `${Math.floor(ms / 3_600_000)} h ${Math.round((ms % 3_600_000) / 60_000)} min`;
  return `${(ms / DAY_MS).toFixed(1)} days`;
}

/** To the millisecond, for single calls. */
export function preciseDuration(ms: number): string {
  if (ms < 10_000) return `${count(Math.round(ms))} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(3)} s`;
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min ${((ms % 60_000) / 1_000).toFixed(3)} s`;
  return duration(ms);
}
