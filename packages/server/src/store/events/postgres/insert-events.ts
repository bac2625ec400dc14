/** Writes the rows of a group's events, and counts duplicates on the first events. */

import type { EventId, RunNo } from "@inlet/protocol";
import type { EventBatch, NewEvent } from "../../contract/index.ts";
import { jsonRows } from "../../postgres/json-rows.ts";
import type { PendingWrites } from "../../postgres/pending-writes.ts";
import { runNumber } from "../../runs/postgres/run-number.ts";
import type { InternedNumbers } from "./interned-ids.ts";
import { FENCES } from "./settled-sequence.ts";

const INSERT = "SELECT * FROM append_events($1, $2, $3, $4, $5)";
const COUNT = "UPDATE events SET duplicates = duplicates + $3 WHERE environment_id = $1 AND event_id = ANY ($2::text[])";

/** An event that is stored by this transaction. */
export interface StoredNow {
  batch: EventBatch;
  event: NewEvent;
  sequence: number;
}

export interface Inserted {
  /** One for each event. Numbers of a rolled-back transaction are not reused. */
  sequences: number[];
  /** One for each run that the events start. */
  runNos: RunNo[];
  /** The names for which something waits. */
  awaited: Set<string>;
}

interface InsertedRow {
  sequences: number[];
  runs: number[];
  now: number;
  awaited: string[];
}

export async function insertEvents(
  writes: PendingWrites,
  interned: InternedNumbers,
  events: readonly Omit<StoredNow, "sequence">[],
): Promise<Inserted> {
  const rows = events.map(({ batch, event }) => {
    const { id, name, ts, dedupId, trace, sourceRun, extras, schemaErrors, data } = event;
    // This runs for every event: one literal without spreads, which copy, and undefined for null, which PostgreSQL then need not parse.
    return {
      event_id: id,
      name_id: interned.nameId(name),
      ts,
      received_at: batch.receivedAt,
      source_no: interned.sourceNo(batch.source),
      dedup_id: dedupId ?? undefined,
      trace: trace ?? undefined,
      source_run_id: sourceRun,
      extras: extras ?? undefined,
      schema_errors: schemaErrors ?? undefined,
      data,
      matched: event.runs?.length ? 1 : 0,
    };
  });
  const names = [...new Set(events.map(({ event }) => event.name))];
  const runs = events.reduce((sum, { event }) => sum + (event.runs?.length ?? 0), 0);
  const values = [writes.environmentId, FENCES.events[0], jsonRows(rows), names, runs];
  const [row] = (await writes.rows<InsertedRow>(INSERT, ...values)) as [InsertedRow];
  return {
    sequences: row.sequences,
    runNos: row.runs.map((no) => runNumber(row.now, no)),
    awaited: new Set(row.awaited),
  };
}

/** Grouped by count, mostly one. */
export function countDuplicates(writes: PendingWrites, firsts: readonly EventId[]): void {
  const counts = new Map<EventId, number>();
  for (const id of firsts) counts.set(id, (counts.get(id) ?? 0) + 1);
  for (const times of new Set(counts.values())) {
    const ids = [...counts].filter(([, count]) => count === times).map(([id]) => id);
    writes.send(COUNT, writes.environmentId, ids.sort(), times);
  }
}
