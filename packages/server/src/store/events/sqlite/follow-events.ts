/** Reads events in commit order, for live streams. Also contains the single reads of the read thread. */

import type { DatabaseSync } from "node:sqlite";
import type { EnvironmentId, EventId } from "@inlet/protocol";
import type { EventFollowParams, StoredEvent } from "../../contract/index.ts";
import { PAGE_BYTES_MAX, sliceWithin } from "../../shared/byte-bounds.ts";
import { OVERTAKEN_ROWS, overtakenSince, reachedBy, sequenceBeforeFirst, windowEnd } from "../../shared/following.ts";
import { bytesOfEvent, type EventRow, toStoredEvent } from "../rows/event-rows.ts";
import { selectEvents } from "./select-events.ts";

export function followEvents(
  db: DatabaseSync,
  { environmentId, after, limit, bytesMax = PAGE_BYTES_MAX }: EventFollowParams,
): { events: StoredEvent[]; reached: number } {
  const until = windowEnd(after, lastSequence(db));
  const found = db
    .prepare(`${selectEvents()} WHERE sequence > ? AND sequence <= ? AND +environment_id = ? ORDER BY sequence LIMIT ?`)
    .iterate(after, until, environmentId, limit) as unknown as Iterable<EventRow>;
  const slice = sliceWithin(found, limit, bytesMax, bytesOfEvent);
  return { events: slice.rows.map(toStoredEvent), reached: reachedBy(slice, after, until) };
}

export function lastSequence(db: DatabaseSync): number {
  const row = db.prepare("SELECT max(sequence) AS last FROM events").get() as { last: number | null };
  return row.last ?? 0;
}

export function sequenceBefore(
  db: DatabaseSync,
  { environmentId, receivedFrom }: { environmentId: EnvironmentId; receivedFrom: number },
): number {
  // A transform may delay an event: one received later may have a smaller number.
  const row = db
    .prepare(`
      SELECT min(sequence) AS first FROM (
        SELECT sequence FROM events INDEXED BY events_by_time WHERE environment_id = ? AND received_at >= ? ORDER BY received_at LIMIT ${OVERTAKEN_ROWS})`)
    .get(environmentId, overtakenSince(receivedFrom)) as { first: number | null };
  return sequenceBeforeFirst(row.first, lastSequence(db));
}

export function getEvent(db: DatabaseSync, { environmentId, id }: { environmentId: EnvironmentId; id: EventId }): StoredEvent | null {
  const row = db.prepare(`${selectEvents()} WHERE environment_id = ? AND event_id = ?`).get(environmentId, id);
  return row ? toStoredEvent(row as unknown as EventRow) : null;
}
