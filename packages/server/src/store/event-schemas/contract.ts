/**
 * Declared settings of an event name, in an environment or in the scope that branch environments share: a JSON Schema of `data`, and
 * what happens to events that do not match it. Every declared schema is kept under its version.
 */

import type { EnvironmentId } from "@inlet/protocol";

/** `observe`: mismatches are counted. `warn`: the event is also marked. `refuse`: it is not accepted. */
export const SCHEMA_MODES = ["observe", "warn", "refuse"] as const;
export type SchemaMode = (typeof SCHEMA_MODES)[number];

export interface EventSchema {
  environmentId: EnvironmentId;
  name: string;
  /** JSON text; null: no schema is declared. */
  schema: string | null;
  mode: SchemaMode;
  description: string | null;
  /** The number of schemas declared so far; 0 before the first. */
  version: number;
  updatedAt: number;
  /** How many events did not match the schema in force when they arrived. */
  faults: number;
  lastFaultAt: number | null;
}

export interface EventSchemaVersion {
  version: number;
  schema: string | null;
  createdAt: number;
}

export interface EventSchemaPut {
  environmentId: EnvironmentId;
  name: string;
  /** Absent fields stay unchanged. A schema that differs is a new version. */
  schema?: string | null;
  mode?: SchemaMode;
  description?: string | null;
  now: number;
}

export interface SchemaFaults {
  environmentId: EnvironmentId;
  name: string;
  count: number;
  lastAt: number;
}

export interface EventSchemaStore {
  /** All schemas of the installation: nodes cache them in memory and are notified of changes (storeWatch). */
  eventSchemaList(): Promise<EventSchema[]>;
  eventSchemaGet(params: { environmentId: EnvironmentId; name: string }): Promise<EventSchema | null>;
  eventSchemaPut(params: EventSchemaPut): Promise<EventSchema>;
  /** The newest hundred, newest first. */
  eventSchemaVersions(params: { environmentId: EnvironmentId; name: string }): Promise<EventSchemaVersion[]>;
  /** Names without any declaration are left out. */
  eventSchemaFaultsAdd(params: { faults: readonly SchemaFaults[] }): Promise<void>;
}

export const SCHEMA_VERSIONS_SHOWN = 100;
