/** The filters of the events list, as URL parameters and as REST parameters. */

import type { Filters } from "../api/queries.ts";
import type { EventItem } from "../api/types.ts";
import { instantsOf, readTimeRange, type TimeRange } from "../lists/time-range.ts";

export interface EventSearch extends TimeRange {
  name?: string;
  source?: string;
  id?: string;
  q?: string;
  /** An expression over the payload. */
  where?: string;
  /** Whether it started a function or resumed a run. */
  matched?: "true" | "false";
  /** Also shows internal events. */
  internal?: boolean;
  /** Events of the archive, by name and time only. */
  archived?: true;
}

export function readEventSearch(search: Record<string, unknown>): EventSearch {
  const text = (name: string) => (search[name] === undefined || search[name] === "" ? {} : { [name]: String(search[name]) });
  if (String(search.archived) === "true") return { archived: true, ...text("name"), ...readTimeRange(search) };
  return {
    ...text("name"),
    ...text("source"),
    ...text("id"),
    ...text("q"),
    ...text("where"),
    ...(/^(?:true|false)$/.test(String(search.matched)) && text("matched")),
    ...(String(search.internal) === "true" && { internal: true }),
    ...readTimeRange(search),
  };
}

/** Internal events are excluded, unless they or their source are requested. */
export function filtersOf({ name, source, id, q, where, matched, internal, archived, ...range }: EventSearch): Filters {
  if (archived) return { archived: "true", name: name?.trim(), ...instantsOf(range) };
  const shown = internal || source || isInternal(name);
  return { name: name?.trim(), source, id: id?.trim(), q, where, matched, ...instantsOf(range), internal: shown ? undefined : "false" };
}

/** The filters that events in the store and archived ones have. */
export function withArchived({ name, range, from, to }: EventSearch, archived: boolean): EventSearch {
  return readEventSearch({ name, range, from, to, ...(archived && { archived }) });
}

function isInternal(name: string | undefined): boolean {
  return /^\s*(?:inlet|inngest)\//i.test(name ?? "");
}

/**
 * The same filters, applied to an event from the live stream. A list that ends in the past gets no new events. Neither does one that
 * only the service can filter: it is reloaded instead.
 */
export function isWanted(event: EventItem, { name, source, id, q, where, matched, to, internal }: Filters): boolean {
  if (where || matched) return false;
  if (to !== undefined && Date.parse(event.receivedAt) >= Number(to)) return false;
  if (internal === "false" && event.source.kind === "internal") return false;
  if (name && !nameMatches(String(name), event.name)) return false;
  if (source && source !== event.source.kind && source !== event.source.id) return false;
  if (id && id !== event.dedupId) return false;
  return !q || contains(event, String(q).toLowerCase());
}

/** As the service searches: name, id and payload. */
function contains({ name, dedupId, data, extras }: EventItem, wanted: string): boolean {
  return [name, dedupId ?? "", data, ...[...extras].flat()].some((text) => text.toLowerCase().includes(wanted));
}

function nameMatches(pattern: string, name: string): boolean {
  return pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}

export function isFiltered(search: EventSearch): boolean {
  return Object.keys(search).length > 0;
}
