/** Declared schemas of events in SQLite. Few rows, read whole. */

import type { DatabaseSync } from "node:sqlite";
import {
  type EventSchema,
  type EventSchemaPut,
  type EventSchemaStore,
  SCHEMA_VERSIONS_SHOWN,
  type SchemaFaults,
} from "../contract/index.ts";
import type { GroupCommit } from "../sqlite/group-commit.ts";
import { planEventSchema } from "./policy.ts";
import { type EventSchemaRow, type SchemaVersionRow, toEventSchema, toSchemaVersion } from "./rows.ts";

type Key = Pick<EventSchema, "environmentId" | "name">;

export function eventSchemaStore(db: DatabaseSync, writer: GroupCommit): EventSchemaStore {
  const list = db.prepare("SELECT * FROM event_schemas ORDER BY environment_id, name");
  const find = db.prepare("SELECT * FROM event_schemas WHERE environment_id = ? AND name = ?");
  const write = db.prepare(`
    INSERT INTO event_schemas (environment_id, name, schema, mode, description, version, updated_at, faults, last_fault_at)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 0, NULL)
    ON CONFLICT DO UPDATE SET schema = ?3, mode = ?4, description = ?5, version = ?6, updated_at = ?7`);
  const keepVersion = db.prepare(`
    INSERT INTO event_schema_versions (environment_id, name, version, schema, created_at) VALUES (?, ?, ?, ?, ?)`);
  const versions = db.prepare(`
    SELECT version, schema, created_at FROM event_schema_versions WHERE environment_id = ? AND name = ?
    ORDER BY version DESC LIMIT ${SCHEMA_VERSIONS_SHOWN}`);
  const addFaults = db.prepare(`
    UPDATE event_schemas SET faults = faults + ?3, last_fault_at = max(coalesce(last_fault_at, 0), ?4) WHERE environment_id = ?1 AND name = ?2`);

  function get({ environmentId, name }: Key): EventSchema | null {
    const row = find.get(environmentId, name) as EventSchemaRow | undefined;
    return row ? toEventSchema(row) : null;
  }

  function put(change: EventSchemaPut): EventSchema {
    const { written, isNewVersion } = planEventSchema(get(change), change);
    const { environmentId, name, schema, mode, description, version, updatedAt } = written;
    write.run(environmentId, name, schema, mode, description, version, updatedAt);
    if (isNewVersion) keepVersion.run(environmentId, name, version, schema, updatedAt);
    return written;
  }

  function add({ environmentId, name, count, lastAt }: SchemaFaults): void {
    addFaults.run(environmentId, name, count, lastAt);
  }

  return {
    eventSchemaList: async () => (list.all() as unknown as EventSchemaRow[]).map(toEventSchema),
    eventSchemaGet: async (key) => get(key),
    eventSchemaPut: (change) => writer.submit(() => put(change), 2),
    eventSchemaVersions: async ({ environmentId, name }) =>
      (versions.all(environmentId, name) as unknown as SchemaVersionRow[]).map(toSchemaVersion),
    eventSchemaFaultsAdd: ({ faults }) =>
      writer.submit(() => {
        for (const some of faults) add(some);
      }, faults.length),
  };
}
