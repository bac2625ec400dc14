/** Declared schemas of events in PostgreSQL. Few rows, read whole. */

import type { PoolClient } from "pg";
import { type EventSchema, type EventSchemaPut, type EventSchemaStore, SCHEMA_VERSIONS_SHOWN } from "../contract/index.ts";
import type { Database } from "../postgres/database.ts";
import type { Announced } from "../postgres/nodes/announce.ts";
import { planEventSchema } from "./policy.ts";
import { type EventSchemaRow, type SchemaVersionRow, toEventSchema, toSchemaVersion } from "./rows.ts";

const FIND = "SELECT * FROM event_schemas WHERE environment_id = $1 AND name = $2";
const WRITE = `
  INSERT INTO event_schemas (environment_id, name, schema, mode, description, version, updated_at, faults)
  VALUES ($1, $2, $3, $4, $5, $6, $7, 0)
  ON CONFLICT (environment_id, name) DO UPDATE SET schema = $3, mode = $4, description = $5, version = $6, updated_at = $7`;
const KEEP_VERSION = `
  INSERT INTO event_schema_versions (environment_id, name, version, schema, created_at) VALUES ($1, $2, $3, $4, $5)`;
const VERSIONS = `
  SELECT version, schema, created_at FROM event_schema_versions WHERE environment_id = $1 AND name = $2
  ORDER BY version DESC LIMIT ${SCHEMA_VERSIONS_SHOWN}`;
const ADD_FAULTS = `
  UPDATE event_schemas AS s SET faults = s.faults + f.count, last_fault_at = greatest(s.last_fault_at, f.last_at)
  FROM unnest($1::integer[], $2::text[], $3::bigint[], $4::bigint[]) AS f(environment_id, name, count, last_at)
  WHERE s.environment_id = f.environment_id AND s.name = f.name`;

export function eventSchemaStore(database: Database, announced: Announced): EventSchemaStore {
  return {
    eventSchemaList: async () =>
      (await database.query<EventSchemaRow>("SELECT * FROM event_schemas ORDER BY environment_id, name")).map(toEventSchema),
    async eventSchemaGet({ environmentId, name }) {
      const [row] = await database.query<EventSchemaRow>(FIND, [environmentId, name]);
      return row ? toEventSchema(row) : null;
    },
    eventSchemaPut: (change) => announced("catalogue", (client) => put(client, change)),
    eventSchemaVersions: async ({ environmentId, name }) =>
      (await database.query<SchemaVersionRow>(VERSIONS, [environmentId, name])).map(toSchemaVersion),
    async eventSchemaFaultsAdd({ faults }) {
      await database.query(ADD_FAULTS, [
        faults.map(({ environmentId }) => environmentId),
        faults.map(({ name }) => name),
        faults.map(({ count }) => count),
        faults.map(({ lastAt }) => lastAt),
      ]);
    },
  };
}

async function put(client: PoolClient, change: EventSchemaPut): Promise<EventSchema> {
  const key = [change.environmentId, change.name];
  // Serialises two nodes that declare the first schema of a name at the same time.
  await client.query("SELECT pg_advisory_xact_lock(hashtextextended($2, $1::bigint))", key);
  const { rows } = await client.query<EventSchemaRow>(FIND, key);
  const { written, isNewVersion } = planEventSchema(rows[0] ? toEventSchema(rows[0]) : null, change);
  const { schema, mode, description, version, updatedAt } = written;
  await client.query(WRITE, [...key, schema, mode, description, version, updatedAt]);
  if (isNewVersion) await client.query(KEEP_VERSION, [...key, version, schema, updatedAt]);
  return written;
}
