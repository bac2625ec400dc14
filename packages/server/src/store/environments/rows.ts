/** Converts a row of the environments table to the contract's Environment. */

import type { EnvironmentId } from "@inlet/protocol";
import type { Environment, EnvironmentChanges, EnvironmentKind } from "../contract/index.ts";

export interface EnvironmentRow {
  environment_id: number;
  name: string;
  kind: string;
  created_at: number;
  archived_at: number | null;
  body_bytes_max: number | null;
  event_retention_ms: number | null;
  run_retention_ms: number | null;
  request_retention_ms: number | null;
  events_per_second_max: number | null;
  events_per_day_max: number | null;
  bytes_per_day_max: number | null;
  calls_at_once_max: number | null;
  stored_bytes_max: number | null;
  database_no: number;
}

/** The columns that a change may set, with the values it gives them; undefined leaves a column as it is. */
export function changedColumns({ archivedAt, bodyBytesMax, retention = {}, quotas = {} }: EnvironmentChanges) {
  return {
    archived_at: archivedAt,
    body_bytes_max: bodyBytesMax,
    event_retention_ms: retention.eventsMs,
    run_retention_ms: retention.runsMs,
    request_retention_ms: retention.requestsMs,
    events_per_second_max: quotas.eventsPerSecond,
    events_per_day_max: quotas.eventsPerDay,
    bytes_per_day_max: quotas.bytesPerDay,
    calls_at_once_max: quotas.callsAtOnce,
    stored_bytes_max: quotas.storedBytes,
  };
}

export function toRow({ id, name, kind, createdAt, databaseNo, ...changes }: Environment) {
  return { environment_id: id, name, kind, created_at: createdAt, database_no: databaseNo, ...changedColumns(changes) };
}

export function toEnvironment(row: EnvironmentRow): Environment {
  return {
    id: row.environment_id as EnvironmentId,
    name: row.name,
    kind: row.kind as EnvironmentKind,
    createdAt: row.created_at,
    archivedAt: row.archived_at,
    bodyBytesMax: row.body_bytes_max,
    retention: { eventsMs: row.event_retention_ms, runsMs: row.run_retention_ms, requestsMs: row.request_retention_ms },
    quotas: {
      eventsPerSecond: row.events_per_second_max,
      eventsPerDay: row.events_per_day_max,
      bytesPerDay: row.bytes_per_day_max,
      callsAtOnce: row.calls_at_once_max,
      storedBytes: row.stored_bytes_max,
    },
    databaseNo: row.database_no,
  };
}
