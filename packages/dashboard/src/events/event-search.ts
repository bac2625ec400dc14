/** The filters of the events list, as URL parameters and as REST parameters. */

import type { Filters } from "../api/queries.ts";
import type { EventItem } from "../api/types.ts";

export interface EventSearch {
  name?: string;
  source?: string;
  id?: string;
  q?: string;
  /** A time range that ends now, such as `1h`; or from and to, in milliseconds. */
  range?: string;
  from?: number;
  to?: number;
}

export const RANGES: Readonly<Record<string, { label: string; ms: number }>> = {
  "15m": { label: "Last 15 minutes", ms: 900_000 },
  "1h": { label: "Last hour", ms: 3_600_000 },
  "24h": { label: "Last 24 hours", ms: 86_400_000 },
  "7d": { label: "Last 7 days", ms: 7 * 86_400_000 },
  "30d": { label: "Last 30 days", ms: 30 * 86_400_000 },
};

export function readEventSearch(search: Record<string, unknown>): EventSearch {
  const text = (name: string) => (search[name] === undefined || search[name] === "" ? {} : { [name]: String(search[name]) });
  const instant = (name: string) => (Number.isFinite(Number(search[name] ?? Number.NaN)) ? { [name]: Number(search[name]) } : {});
  return {
    ...text("name"),
    ...text("source"),
    ...text("id"),
    ...text("q"),
    ...(String(search.range) in RANGES && text("range")),
    ...instant("from"),
    ...instant("to"),
  };
}

/** Rounded to the minute, so that the query key stays the same between renders. */
export function filtersOf({ name, source, id, q, range, from, to }: EventSearch): Filters {
  const span = range ? RANGES[range] : undefined;
  const start = span ? Math.floor((Date.now() - span.ms) / 60_000) * 60_000 : from;
  return { name: name?.trim(), source, id: id?.trim(), q, from: start, to: span ? undefined : to };
}

/** The same filters, applied to an event from the live stream. A list that ends in the past gets no new events. */
export function isWanted(event: EventItem, { name, source, id, q, to }: Filters): boolean {
  if (to !== undefined && Date.parse(event.receivedAt) >= Number(to)) return false;
  if (name && !nameMatches(String(name), event.name)) return false;
  if (source && source !== event.source.kind && source !== event.source.id) return false;
  if (id && id !== event.dedupId) return false;
  return !q || event.data.toLowerCase().includes(String(q).toLowerCase());
}

function nameMatches(pattern: string, name: string): boolean {
  return pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}

export function isFiltered(search: EventSearch): boolean {
  return Object.keys(search).length > 0;
}
