/** The time zone of displayed times: the browser's, or UTC. The choice is stored in the browser. */

import { useSyncExternalStore } from "react";

export type TimeZone = "local" | "utc";

const STORED_AS = "inlet.time-zone";
const listeners = new Set<() => void>();

export function timeZone(): TimeZone {
  return localStorage.getItem(STORED_AS) === "utc" ? "utc" : "local";
}

export function setTimeZone(zone: TimeZone): void {
  if (zone === "utc") localStorage.setItem(STORED_AS, zone);
  else localStorage.removeItem(STORED_AS);
  for (const listener of listeners) listener();
}

export function useTimeZone(): TimeZone {
  return useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, timeZone);
}

/** Formats times in the chosen zone. */
export function timeFormat(options: Intl.DateTimeFormatOptions): (at: number | Date) => string {
  const local = new Intl.DateTimeFormat(undefined, options);
  const utc = new Intl.DateTimeFormat(undefined, { ...options, timeZone: "UTC" });
  return (at) => (timeZone() === "utc" ? utc : local).format(at);
}

const NAME = timeFormat({ timeZoneName: "short" });

/** Such as `UTC` or `GMT+1`. */
export function zoneName(): string {
  if (timeZone() === "utc") return "UTC";
  return NAME(Date.now()).split(/,?\s+/).at(-1) ?? "";
}

/** The value of a `datetime-local` field, in the chosen zone. */
export function fieldValueOf(at: number): string {
  const shiftMs = timeZone() === "utc" ? 0 : new Date(at).getTimezoneOffset() * 60_000;
  return new Date(at - shiftMs).toISOString().slice(0, 19);
}

/** The time in a `datetime-local` field, in the selected zone; null if it is empty. */
export function instantOfField(value: string): number | null {
  const at = Date.parse(timeZone() === "utc" ? `${value}Z` : value);
  return value === "" || Number.isNaN(at) ? null : at;
}
