/** Writes the rows of a group's events, and counts duplicates on the first events. */

import type { EventId } from "@inlet/protocol";
import { type EventBatch, type NewEvent, toStoreText } from "../../contract/index.ts";
import type { GroupWrites } from "../group-writes.ts";
import { insertInto } from "../json-rows.ts";
import type { InternedNumbers } from "./interned-ids.ts";

const INSERT = insertInto("events", {
  ...{ sequence: "bigint", environment_id: "integer", event_id: "text", name_id: "integer", ts: "bigint", received_at: "bigint" },
  ...{ dedup_id: "text", source_no: "integer", matched: "smallint", trace: "text", extras: "text", schema_errors: "text", data: "text" },
});
const COUNT = "UPDATE events SET duplicates = duplicates + $3 WHERE environment_id = $1 AND event_id = ANY ($2::text[])";

/** An event that is stored by this transaction. */
export interface StoredNow {
  batch: EventBatch;
  event: NewEvent;
  sequence: number;
}

export function insertEvents(writes: GroupWrites, interned: InternedNumbers, stored: readonly StoredNow[]): void {
  if (stored.length === 0) return;
  const rows = stored.map(({ batch, event, sequence }) => {
    const { id, name, ts, dedupId, trace = null, extras, schemaErrors = null, data } = event;
    return {
      ...{
        sequence,
        environment_id: writes.environmentId,
        event_id: id,
        name_id: interned.nameId(name),
        ts,
        received_at: batch.receivedAt,
      },
      ...{ dedup_id: dedupId === null ? null : toStoreText(dedupId), source_no: interned.sourceNo(batch.source), trace, extras },
      ...{ schema_errors: schemaErrors, data },
      matched: event.runs?.length ? 1 : 0,
    };
  });
  writes.send(INSERT, JSON.stringify(rows));
}

/** Grouped by count, mostly one. The ids are literals in the statement, so that the planner selects partitions by them. */
export function countDuplicates(writes: GroupWrites, firsts: readonly EventId[]): void {
  const counts = new Map<EventId, number>();
  for (const id of firsts) counts.set(id, (counts.get(id) ?? 0) + 1);
  for (const times of new Set(counts.values())) {
    const ids = [...counts].filter(([, count]) => count === times).map(([id]) => id);
    writes.send(COUNT, writes.environmentId, ids.sort(), times);
  }
}
