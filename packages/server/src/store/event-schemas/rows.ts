/** Converts rows of event schemas to the contract's records. */

import type { EnvironmentId } from "@inlet/protocol";
import type { EventSchema, EventSchemaVersion, SchemaMode } from "../contract/index.ts";

export interface EventSchemaRow {
  environment_id: number;
  name: string;
  schema: string | null;
  mode: string;
  description: string | null;
  version: number;
  updated_at: number;
  faults: number;
  last_fault_at: number | null;
}

export interface SchemaVersionRow {
  version: number;
  schema: string | null;
  created_at: number;
}

export function toEventSchema(row: EventSchemaRow): EventSchema {
  return {
    environmentId: row.environment_id as EnvironmentId,
    name: row.name,
    schema: row.schema,
    mode: row.mode as SchemaMode,
    description: row.description,
    version: row.version,
    updatedAt: row.updated_at,
    faults: row.faults,
    lastFaultAt: row.last_fault_at,
  };
}

export function toSchemaVersion({ version, schema, created_at }: SchemaVersionRow): EventSchemaVersion {
  return { version, schema, createdAt: created_at };
}
