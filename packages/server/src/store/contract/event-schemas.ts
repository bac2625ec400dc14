/**
 * What people declare about the events of a name, in an environment or in the scope that branch environments share: a JSON Schema of
 * `data`, and what happens to events that break it. Every schema that was in force is kept under its version.
 */

import type { EnvironmentId } from "@inlet/protocol";

/** `observe`: faults are counted. `warn`: the event is marked too. `refuse`: it is not accepted. */
export const SCHEMA_MODES = ["observe", "warn", "refuse"] as const;
export type SchemaMode = (typeof SCHEMA_MODES)[number];

export interface EventSchema {
  environmentId: EnvironmentId;
  name: string;
  /** JSON text; null: none is declared. */
  schema: string | null;
  mode: SchemaMode;
  description: string | null;
  /** Counts the schemas there were, from 1; 0 before the first. */
  version: number;
  updatedAt: number;
  /** How many events broke the schema of their time. */
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
  /** What is absent stays as it is. A schema that differs is a new version. */
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
  /** All of the installation: nodes keep them in memory, and are told of changes (storeWatch). */
  eventSchemaList(): Promise<EventSchema[]>;
  eventSchemaGet(params: { environmentId: EnvironmentId; name: string }): Promise<EventSchema | null>;
  eventSchemaPut(params: EventSchemaPut): Promise<EventSchema>;
  /** Newest first, the last hundred. */
  eventSchemaVersions(params: { environmentId: EnvironmentId; name: string }): Promise<EventSchemaVersion[]>;
  /** Names for which nothing is declared any more are left out. */
  eventSchemaFaultsAdd(params: { faults: readonly SchemaFaults[] }): Promise<void>;
}

export const SCHEMA_VERSIONS_SHOWN = 100;
