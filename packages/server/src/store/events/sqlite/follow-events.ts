/** Reads events in commit order, for live streams. Also contains the single reads of the read thread. */

import type { DatabaseSync } from "node:sqlite";
import type { EnvironmentId, EventId } from "@inlet/protocol";
import type { EventFollowParams, StoredEvent } from "../../contract/index.ts";
import { PAGE_BYTES_MAX, sliceWithin } from "../../shared/byte-bounds.ts";
import { bytesOfEvent, type EventRow, toStoredEvent } from "../rows/event-rows.ts";
import { selectEvents } from "./select-events.ts";

/** Rows examined per call, so that other environments' traffic does not delay a caller. */
const WINDOW_ROWS = 2_000;

export function followEvents(
  db: DatabaseSync,
  { environmentId, after, limit, bytesMax = PAGE_BYTES_MAX }: EventFollowParams,
): { events: StoredEvent[]; reached: number } {
  const until = Math.min(after + WINDOW_ROWS, lastSequence(db));
  const found = db
    .prepare(`${selectEvents()} WHERE sequence > ? AND sequence <= ? AND +environment_id = ? ORDER BY sequence LIMIT ?`)
    .iterate(after, until, environmentId, limit) as unknown as Iterable<EventRow>;
  const { rows, isEnd } = sliceWithin(found, limit, bytesMax, bytesOfEvent);
  const last = rows.at(-1);
  return { events: rows.map(toStoredEvent), reached: !isEnd && last ? last.sequence : Math.max(after, until) };
}

export function lastSequence(db: DatabaseSync): number {
  const row = db.prepare("SELECT max(sequence) AS last FROM events").get() as { last: number | null };
  return row.last ?? 0;
}

/** A transform may delay an event by this much after its receipt, while others overtake it. */
const OVERTAKEN_MS = 60_000;

export function sequenceBefore(
  db: DatabaseSync,
  { environmentId, receivedFrom }: { environmentId: EnvironmentId; receivedFrom: number },
): number {
  // A transform may delay an event: one received later may have a smaller number.
  const row = db
    .prepare(`
      SELECT min(sequence) AS first FROM (
        SELECT sequence FROM events INDEXED BY events_by_time WHERE environment_id = ? AND received_at >= ? ORDER BY received_at LIMIT 1000)`)
    .get(environmentId, receivedFrom - OVERTAKEN_MS) as { first: number | null };
  return row.first === null ? lastSequence(db) : row.first - 1;
}

export function getEvent(db: DatabaseSync, { environmentId, id }: { environmentId: EnvironmentId; id: EventId }): StoredEvent | null {
  const row = db.prepare(`${selectEvents()} WHERE environment_id = ? AND event_id = ?`).get(environmentId, id);
  return row ? toStoredEvent(row as unknown as EventRow) : null;
}
