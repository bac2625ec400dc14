/** The SELECT of events in PostgreSQL. */

import type { EnvironmentId } from "@inlet/protocol";
import type { StoredEvent } from "../../contract/index.ts";
import { EVENT_COLUMNS, type EventRow, toStoredEvent } from "../../rows/event-rows.ts";
import type { Read } from "../database.ts";

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
