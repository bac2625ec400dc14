/**
 * Lists events newest first, on the read thread.
 *
 * A list reads one or more index ranges ("streams"): the whole environment by time, one name by time, or one dedup id.
 * Filters that no index supports are applied to slices of a stream, with a pause after each slice so that other reads can
 * run, and with a time budget for the whole call: beyond it, the page ends early and says where to continue.
 */

import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import { setImmediate as nextTick } from "node:timers/promises";
import type { CompileWhere, EventCursor, EventListParams, EventPage } from "../../contract/index.ts";
import { sliceWithin } from "../../shared/byte-bounds.ts";
import { NAMES_READ, namesToMerge } from "../policy.ts";
import {
  type Collected,
  collect,
  type EventFilter,
  mergeStreams,
  nameFilter,
  newSearch,
  noWhere,
  payloadFilters,
} from "../rows/event-pages.ts";
import { bytesOfEvent, type EventRow } from "../rows/event-rows.ts";
import { selectEvents } from "./select-events.ts";

interface Stream {
  index: "events_by_time" | "events_by_name" | "events_by_dedup_id";
  column: "name_id" | "dedup_id" | null;
  value: string | number | null;
}

export async function listEvents(db: DatabaseSync, params: EventListParams, compileWhere: CompileWhere = noWhere): Promise<EventPage> {
  const { streams, filters } = plan(db, params, compileWhere);
  const search = newSearch(params, filters, streams.length);
  const collected: Collected[] = [];
  for (const stream of streams) {
    const readAndYield = async (after: EventCursor | undefined, rows: number, bytesMax: number) => {
      const slice = sliceWithin(readRows(db, params, stream, after, rows), rows, bytesMax, bytesOfEvent);
      await nextTick();
      return slice;
    };
    collected.push(await collect(params, search, readAndYield));
  }
  return mergeStreams(collected, params.limit);
}

/** Chooses the narrowest streams; conditions that they do not cover become filters. */
function plan(db: DatabaseSync, params: EventListParams, compileWhere: CompileWhere): { streams: Stream[]; filters: EventFilter[] } {
  const { name, dedupId } = params;
  const filters = payloadFilters(params, compileWhere);

  if (dedupId !== undefined) {
    if (name !== undefined) filters.push(nameFilter(name));
    return { streams: [{ index: "events_by_dedup_id", column: "dedup_id", value: dedupId }], filters };
  }
  if (name === undefined) return { streams: [wholeEnvironment()], filters };
  const nameIds = name.endsWith("*") ? namesWithPrefix(db, name.slice(0, -1)) : namesEqual(db, name);
  if (nameIds) return { streams: nameIds.map(oneName), filters };
  return { streams: [wholeEnvironment()], filters: [nameFilter(name), ...filters] };
}

function wholeEnvironment(): Stream {
  return { index: "events_by_time", column: null, value: null };
}

function oneName(nameId: number): Stream {
  return { index: "events_by_name", column: "name_id", value: nameId };
}

function namesEqual(db: DatabaseSync, name: string): number[] {
  const rows = db.prepare("SELECT name_id FROM event_names WHERE name = ?").all(name) as { name_id: number }[];
  return rows.map(({ name_id }) => name_id);
}

/** The names that begin with `prefix`, in any environment; null if there are too many to read one by one. */
function namesWithPrefix(db: DatabaseSync, prefix: string): number[] | null {
  const rows = db.prepare("SELECT name_id, name FROM event_names WHERE name >= ? ORDER BY name LIMIT ?").all(prefix, NAMES_READ) as {
    name_id: number;
    name: string;
  }[];
  return namesToMerge(rows, prefix);
}

function readRows(
  db: DatabaseSync,
  params: EventListParams,
  stream: Stream,
  after: EventCursor | undefined,
  rows: number,
): Iterable<EventRow> {
  const where = ["environment_id = ?"];
  const values: SQLInputValue[] = [params.environmentId];
  const require = (condition: string, ...bound: SQLInputValue[]) => {
    where.push(condition);
    values.push(...bound);
  };
  if (stream.column) require(`${stream.column} = ?`, stream.value);
  if (after) require("(received_at, sequence) < (?, ?)", after.receivedAt, after.sequence);
  if (params.from !== undefined) require("received_at >= ?", params.from);
  if (params.to !== undefined) require("received_at < ?", params.to);
  const statement = db.prepare(`
    ${selectEvents(stream.index)}
    WHERE ${where.join(" AND ")} ORDER BY received_at DESC, sequence DESC LIMIT ?`);
  return statement.iterate(...values, rows) as unknown as Iterable<EventRow>;
}
