/** The SELECT of events in PostgreSQL. */

import type { EnvironmentId } from "@inlet/protocol";
import type { StoredEvent } from "../../contract/index.ts";
import type { Read } from "../../postgres/database.ts";
import { EVENT_BYTES, isWholeSlice, rowsWithin, type WithinRow } from "../../postgres/rows-within.ts";
import { PAGE_BYTES_MAX } from "../../shared/byte-bounds.ts";
import { EVENT_COLUMNS, type EventRow, toStoredEvent } from "../rows/event-rows.ts";

/** Events with their names and sources instead of interned ids. Conditions and order are in the subquery, so that the planner starts there. */
export function selectEvents(conditions: string): string {
  return `SELECT ${EVENT_COLUMNS} FROM (SELECT * FROM events ${conditions} OFFSET 0) AS events
    JOIN event_names USING (name_id) JOIN event_sources USING (source_no)`;
}

const AT = `${selectEvents("WHERE sequence = ANY ($2::bigint[])")} WHERE environment_id = $1`;

/** The events that exist, by sequence number. */
export async function eventsAt(read: Read, environmentId: EnvironmentId, sequences: readonly number[]): Promise<Map<number, StoredEvent>> {
  if (sequences.length === 0) return new Map();
  const rows = await read<EventRow>(AT, [environmentId, [...new Set(sequences)]]);
  return new Map(rows.map((row) => [row.sequence, toStoredEvent(row)]));
}

const WITHIN = rowsWithin(
  `(${selectEvents("WHERE sequence = ANY ($2::bigint[])")} WHERE environment_id = $1)`,
  "sequence",
  EVENT_BYTES,
  PAGE_BYTES_MAX,
);

/** The same in parts, each bounded by the size of its events. */
export async function* eventsWithin(
  read: Read,
  environmentId: EnvironmentId,
  sequences: readonly number[],
): AsyncGenerator<Map<number, StoredEvent>> {
  let left = [...new Set(sequences)].sort((one, other) => one - other);
  while (left.length > 0) {
    const rows = await read<EventRow>(WITHIN, [environmentId, left]);
    if (rows.length === 0) return;
    yield new Map(rows.map((row) => [row.sequence, toStoredEvent(row)]));
    const last = Math.max(...rows.map(({ sequence }) => sequence));
    left = left.filter((sequence) => sequence > last);
  }
}

/**
 * The events of each owner, for as many owners as a page of bounded size holds, and for at least one. Owners without an entry in the
 * result are left to a further call. `sequences` are the events of each; those that do not exist are left out.
 */
export async function eventsOfSome<Owner>(
  read: Read,
  environmentId: EnvironmentId,
  sequences: ReadonlyMap<Owner, readonly number[]>,
): Promise<Map<Owner, StoredEvent[]>> {
  const owners = [...sequences];
  const [first] = owners;
  if (!first) return new Map();
  const asked = [...new Set(owners.flatMap(([, own]) => own))];
  const rows = await read<WithinRow<EventRow>>(WITHIN, [environmentId, asked]);
  const reached = isWholeSlice(rows) ? Number.POSITIVE_INFINITY : Math.max(...rows.map(({ sequence }) => sequence));
  const covered = owners.filter(([, own]) => own.every((sequence) => sequence <= reached));
  const events =
    covered.length > 0 ? new Map(rows.map((row) => [row.sequence, toStoredEvent(row)])) : await eventsAt(read, environmentId, first[1]);
  const complete = covered.length > 0 ? covered : [first];
  return new Map(complete.map(([owner, own]) => [owner, own.flatMap((sequence) => events.get(sequence) ?? [])]));
}
