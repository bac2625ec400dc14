/** Converts a row of the events table, as both engines read it, to the contract's StoredEvent. */

import type { EnvironmentId, EventId, RunId } from "@inlet/protocol";
import type { SourceKind, StoredEvent } from "../../contract/index.ts";

export const EVENT_COLUMNS =
  "sequence, environment_id, event_id, name, ts, received_at, dedup_id, source_kind, source_id, duplicates, matched, trace, source_run_id, extras, schema_errors, data";

export interface EventRow {
  sequence: number;
  environment_id: number;
  event_id: string;
  name: string;
  ts: number;
  received_at: number;
  dedup_id: string | null;
  source_kind: string;
  source_id: string;
  duplicates: number;
  matched: number;
  trace: string | null;
  source_run_id: string | null;
  extras: string | null;
  schema_errors: string | null;
  data: string;
}

export function bytesOfEvent({ data, extras }: Pick<EventRow, "data" | "extras">): number {
  return data.length + (extras?.length ?? 0);
}

export function toStoredEvent(row: EventRow): StoredEvent {
  return {
    sequence: row.sequence,
    environmentId: row.environment_id as EnvironmentId,
    id: row.event_id as EventId,
    name: row.name,
    ts: row.ts,
    receivedAt: row.received_at,
    dedupId: row.dedup_id,
    source: { kind: row.source_kind as SourceKind, id: row.source_id },
    duplicates: row.duplicates,
    isMatched: row.matched === 1,
    ...(row.trace !== null && { trace: row.trace }),
    ...(row.source_run_id !== null && { sourceRun: row.source_run_id as RunId }),
    extras: row.extras,
    ...(row.schema_errors !== null && { schemaErrors: row.schema_errors }),
    data: row.data,
  };
}
