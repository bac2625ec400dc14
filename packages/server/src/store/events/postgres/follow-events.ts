/** Reads events in sequence order, for live streams, and never skips one that is not committed yet. */

import type { EnvironmentId, EventId } from "@inlet/protocol";
import type { EventFollowParams, StoredEvent } from "../../contract/index.ts";
import type { Database } from "../../postgres/database.ts";
import { boundedSlice, EVENT_BYTES, rowsWithin } from "../../postgres/rows-within.ts";
import { PAGE_BYTES_MAX } from "../../shared/byte-bounds.ts";
import { OVERTAKEN_ROWS, overtakenSince, reachedBy, sequenceBeforeFirst, WINDOW_ROWS } from "../../shared/following.ts";
import { type EventRow, toStoredEvent } from "../rows/event-rows.ts";
import { selectEvents } from "./select-events.ts";
import { sequenceAfter, settledSequence } from "./settled-sequence.ts";

const BETWEEN = `
  ${selectEvents("WHERE sequence > $1 AND sequence <= $2 ORDER BY sequence")} WHERE environment_id = $3 ORDER BY sequence LIMIT $4`;

export async function followEvents(
  database: Database,
  { environmentId, after, limit, bytesMax = PAGE_BYTES_MAX }: EventFollowParams,
): Promise<{ events: StoredEvent[]; reached: number }> {
  const settled = await settledSequence(database);
  const until = await sequenceAfter((text, values) => database.read(text, values), { after, settled, count: WINDOW_ROWS });
  const found = await database.read<EventRow & { rows_found: number }>(
    `${rowsWithin(`(${BETWEEN})`, "sequence", EVENT_BYTES, bytesMax)} ORDER BY sequence`,
    [after, until, environmentId, limit],
  );
  const slice = boundedSlice(found, limit);
  return { events: slice.rows.map(toStoredEvent), reached: reachedBy(slice, after, until) };
}

export async function sequenceBefore(
  database: Database,
  { environmentId, receivedFrom }: { environmentId: EnvironmentId; receivedFrom: number },
): Promise<number> {
  const settled = await settledSequence(database);
  // Many nodes assign numbers: an event received later may have a smaller one.
  const [row] = await database.read<{ first: number | null }>(
    `SELECT min(sequence) AS first FROM (
       SELECT sequence FROM events WHERE environment_id = $1 AND received_at >= $2 ORDER BY received_at, sequence LIMIT ${OVERTAKEN_ROWS}) AS oldest`,
    [environmentId, overtakenSince(receivedFrom)],
  );
  return sequenceBeforeFirst(row?.first, settled);
}

export async function getEvent(
  database: Database,
  { environmentId, id }: { environmentId: EnvironmentId; id: EventId },
): Promise<StoredEvent | null> {
  const [row] = await database.read<EventRow>(selectEvents("WHERE environment_id = $1 AND event_id = $2"), [environmentId, id]);
  return row ? toStoredEvent(row) : null;
}
