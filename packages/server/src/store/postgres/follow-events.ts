/**
 * Reads events in the order of their numbers, for live tails, without ever passing one that is still to be committed.
 *
 * Numbers are given out before they are committed, and transactions end in any order. Each transaction that takes numbers first
 * takes a lock which carries the last number given out by then (see write_units), and holds it to its end. So everything up to
 * the smallest such number, and up to the last one given out before looking, is settled.
 */

import type { EnvironmentId, EventId } from "@inlet/protocol";
import type { EventFollowParams, StoredEvent } from "../contract/index.ts";
import { type EventRow, toStoredEvent } from "../rows/event-rows.ts";
import type { Database } from "./database.ts";
import { SELECT_EVENTS } from "./run-reads.ts";

/** Rows looked at in one call, so that another environment's traffic bounds nobody's wait. */
const WINDOW_ROWS = 2_000;
const FENCE = 7_264;

export async function followEvents(
  database: Database,
  { environmentId, after, limit }: EventFollowParams,
): Promise<{ events: StoredEvent[]; reached: number }> {
  const until = Math.min(after + WINDOW_ROWS, await settledSequence(database));
  const rows = await database.query<EventRow>(
    `${SELECT_EVENTS} WHERE sequence > $1 AND sequence <= $2 AND environment_id = $3 ORDER BY sequence LIMIT $4`,
    [after, until, environmentId, limit],
  );
  const events = rows.map(toStoredEvent);
  const last = events.at(-1);
  return { events, reached: events.length === limit && last ? last.sequence : Math.max(after, until) };
}

/** Two statements: the locks must be read after the number, and the events after the locks. */
export async function settledSequence(database: Database): Promise<number> {
  const [given] = await database.query<{ last: number }>(
    "SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS last FROM event_sequence",
  );
  const last = given?.last ?? 0;
  const locks = await database.query<{ low: number }>(
    `SELECT objid::bigint AS low FROM pg_locks
     WHERE locktype = 'advisory' AND classid = $1 AND objsubid = 2 AND granted
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    [FENCE],
  );
  return locks.reduce((settled, { low }) => Math.min(settled, wholeNumber(low, last)), last);
}

/** A lock carries the low 31 bits: the number they belong to is the nearest one below. */
function wholeNumber(low: number, last: number): number {
  const span = 2 ** 31;
  const candidate = Math.floor(last / span) * span + low;
  // A lock may be newer than the number that was read first.
  return candidate > last + span / 2 ? candidate - span : candidate;
}

export async function getEvent(
  database: Database,
  { environmentId, id }: { environmentId: EnvironmentId; id: EventId },
): Promise<StoredEvent | null> {
  const [row] = await database.query<EventRow>(`${SELECT_EVENTS} WHERE environment_id = $1 AND event_id = $2`, [environmentId, id]);
  return row ? toStoredEvent(row) : null;
}
