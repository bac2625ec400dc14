/** Converts a row of the environments table to the contract's Environment. */

import type { EnvironmentId } from "@inlet/protocol";
import type { Environment, EnvironmentKind } from "../contract/index.ts";

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
  };
}
