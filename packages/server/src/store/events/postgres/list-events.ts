/**
 * Lists events newest first. As in the embedded store, a list reads index ranges ("streams"). Filters that no index supports are
 * applied to slices of them, and the whole call has a time budget: beyond it, the page ends early and says where to continue.
 */

import type { CompileWhere, EventCursor, EventListParams, EventPage } from "../../contract/index.ts";
import { Conditions } from "../../postgres/conditions.ts";
import type { Database } from "../../postgres/database.ts";
import { fewAtOnce } from "../../postgres/few-at-once.ts";
import { boundedSlice, EVENT_BYTES, rowsWithin } from "../../postgres/rows-within.ts";
import type { Slice } from "../../shared/byte-bounds.ts";
import { NAMES_READ, namesToMerge } from "../policy.ts";
import { collect, type EventFilter, mergeStreams, nameFilter, newSearch, payloadFilters } from "../rows/event-pages.ts";
import type { EventRow } from "../rows/event-rows.ts";
import { selectEvents } from "./select-events.ts";

/** Queries of one list at the same time: lists share few connections, and one over many names must leave some to the others. */
const QUERIES_MAX = 2;

/** The conditions of a stream in addition to its environment. */
type Stream = { condition: string; values: readonly unknown[] } | null;

export async function listEvents(database: Database, params: EventListParams, compileWhere: CompileWhere): Promise<EventPage> {
  const { streams, filters } = await plan(database, params, compileWhere);
  const search = newSearch(params, filters, streams.length);
  const collected = await fewAtOnce(streams, QUERIES_MAX, (stream) =>
    collect(params, search, (...slice) => readSlice(database, params, stream, ...slice)),
  );
  return mergeStreams(collected, params.limit);
}

/** Chooses the narrowest streams; conditions that they do not cover become filters. */
async function plan(
  database: Database,
  params: EventListParams,
  compileWhere: CompileWhere,
): Promise<{ streams: Stream[]; filters: EventFilter[] }> {
  const { name, dedupId } = params;
  const filters = payloadFilters(params, compileWhere);
  if (dedupId !== undefined) {
    if (name !== undefined) filters.push(nameFilter(name));
    return { streams: [{ condition: "md5(dedup_id) = md5(?::text) AND dedup_id = ?", values: [dedupId, dedupId] }], filters };
  }
  if (name === undefined) return { streams: [null], filters };
  const nameIds = await namesLike(database, name);
  if (nameIds) return { streams: nameIds.map((id) => ({ condition: "name_id = ?", values: [id] })), filters };
  return { streams: [null], filters: [nameFilter(name), ...filters] };
}

/** The names that the pattern matches, in any environment; null if there are too many to read one by one. */
async function namesLike(database: Database, pattern: string): Promise<number[] | null> {
  const isPrefix = pattern.endsWith("*");
  const text = isPrefix ? pattern.slice(0, -1) : pattern;
  const rows = await database.read<{ name_id: number; name: string }>(
    isPrefix
      ? "SELECT name_id, name FROM event_names WHERE name >= $1 ORDER BY name LIMIT $2"
      : "SELECT name_id, name FROM event_names WHERE name = $1 LIMIT $2",
    [text, NAMES_READ],
  );
  return namesToMerge(rows, text);
}

async function readSlice(
  database: Database,
  params: EventListParams,
  stream: Stream,
  after: EventCursor | undefined,
  rows: number,
  bytesMax: number,
): Promise<Slice<EventRow>> {
  const where = new Conditions();
  where.add("environment_id = ?", params.environmentId);
  if (stream) where.add(stream.condition, ...stream.values);
  if (after) where.add("(received_at, sequence) < (?, ?)", after.receivedAt, after.sequence);
  if (params.from !== undefined) where.add("received_at >= ?", params.from);
  if (params.to !== undefined) where.add("received_at < ?", params.to);
  // Rows are selected before their names are looked up, so that the planner starts at the events.
  const order = "received_at DESC, sequence DESC";
  const newest = selectEvents(`WHERE ${where.text} ORDER BY ${order} LIMIT ${rows}`);
  const found = await database.read<EventRow & { rows_found: number }>(
    `${rowsWithin(`(${newest})`, order, EVENT_BYTES, bytesMax)} ORDER BY ${order}`,
    where.values,
  );
  return boundedSlice(found, rows);
}
