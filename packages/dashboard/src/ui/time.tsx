/** Times in the user's time zone. The exact value, with zone and milliseconds, appears on hover. */

import { useEffect, useState } from "react";

const EXACT = new Intl.DateTimeFormat(undefined, {
  ...{ year: "numeric", month: "short", day: "2-digit", hour: "2-digit", minute: "2-digit", second: "2-digit" },
  ...{ fractionalSecondDigits: 3, hourCycle: "h23", timeZoneName: "short" },
} as Intl.DateTimeFormatOptions);
const TODAY = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
const DAY = new Intl.DateTimeFormat(undefined, { month: "short", day: "2-digit", hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const YEAR = new Intl.DateTimeFormat(undefined, { year: "numeric", month: "short", day: "2-digit" });

const DAY_MS = 86_400_000;

export function exactTime(at: string | number): string {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? String(at) : `${EXACT.format(date)}\n${date.toISOString()}`;
}

/** The shortest unambiguous text: the time for today, the day for this year, the full date otherwise. */
function plainTime(at: string | number, now: number): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return String(at);
  if (new Date(now).toDateString() === date.toDateString()) return TODAY.format(date);
  return Math.abs(now - date.getTime()) < 300 * DAY_MS ? DAY.format(date) : YEAR.format(date);
}

export function Time({ at, relative = false }: { at: string | number | null; relative?: boolean }) {
  const now = useNow(relative ? 10_000 : 60_000);
  if (at === null) return <span className="quiet">—</span>;
  const iso = new Date(at);
  return (
    <time dateTime={Number.isNaN(iso.getTime()) ? undefined : iso.toISOString()} title={exactTime(at)}>
      {relative ? ago(iso.getTime(), now) : plainTime(at, now)}
    </time>
  );
}

function ago(at: number, now: number): string {
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
  if (ms < 1) return `${ms.toFixed(2)} ms`;
  if (ms < 1_000) return `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(ms < 10_000 ? 2 : 1)} s`;
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1_000)} s`;
  if (ms < 2 * DAY_MS) return `${Math.floor(ms / 3_600_000)} h ${Math.round((ms % 3_600_000) / 60_000)} min`;
  return `${(ms / DAY_MS).toFixed(1)} days`;
}
