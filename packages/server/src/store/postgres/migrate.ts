/**
 * Brings a database to the schema of this program: numbered SQL files, forward only, each in a transaction of its own.
 *
 * Nodes of two releases may work side by side while a cluster is renewed, so a program may meet a schema that is newer than
 * itself. The database says how old a program may be (`oldest_program`, see migrations/006-nodes.sql): an older one refuses it.
 * In turn a migration that older programs cannot work with is not made while one of them is alive.
 */

import { readdirSync, readFileSync } from "node:fs";
import type { PoolClient, QueryConfig } from "pg";
import { StoreRefused } from "../contract/index.ts";
import type { Database } from "./database.ts";
import { aliveNodes, MIGRATION_LOCK } from "./nodes.ts";

export const MIGRATIONS = new URL("./migrations/", import.meta.url);
/** Indexes of large tables take their time. */
const MIGRATION_TIMEOUT_MS = 12 * 3_600_000;
const OLDEST_SERVER = 150_000;

interface SchemaRow {
  version: number;
  /** Absent before the migration that brought it. */
  oldest_program?: number;
}

/** The newest schema this program knows. */
export function schemaKnown(folder: URL = MIGRATIONS): number {
  return migrationFiles(folder).length;
}

export async function migrate(database: Database, folder: URL = MIGRATIONS): Promise<void> {
  for (let isBehind = true; isBehind; ) isBehind = await database.transaction((client) => migrateOne(client, folder));
}

/** True when there is more to do. The lock belongs to the transaction, so this works through a proxy that pools transactions. */
async function migrateOne(client: PoolClient, folder: URL): Promise<boolean> {
  await patiently(client, "SELECT pg_advisory_xact_lock($1)", [MIGRATION_LOCK]);
  await checkServer(client);
  await client.query(
    "CREATE TABLE IF NOT EXISTS schema_version (only_row integer PRIMARY KEY CHECK (only_row = 1), version integer NOT NULL)",
  );
  const files = migrationFiles(folder);
  const { version, oldest_program: oldest } = await readSchema(client);
  if (version > files.length && (oldest ?? version) > files.length) {
    throw new StoreRefused(
      `the database has schema ${version}, which programs older than schema ${oldest ?? version} cannot use, and this program knows schemas up to ${files.length}: it was migrated by a newer version of Inlet. Start that version, or restore an older backup.`,
    );
  }
  const next = files[version];
  if (next === undefined) return false;
  await patiently(client, readFileSync(new URL(next, folder), "utf8"));
  if (version === 0) await client.query("INSERT INTO schema_version (only_row, version) VALUES (1, 1)");
  else await client.query("UPDATE schema_version SET version = $1", [version + 1]);
  await refuseWhileOldNodesWork(client, next, oldest);
  return true;
}

/** A text without values may hold several statements. */
async function patiently(client: PoolClient, text: string, values?: unknown[]): Promise<void> {
  await client.query({ text, ...(values && { values }), query_timeout: MIGRATION_TIMEOUT_MS } as QueryConfig);
}

async function readSchema(client: PoolClient): Promise<SchemaRow> {
  const { rows } = await client.query<SchemaRow>("SELECT * FROM schema_version");
  return rows[0] ?? { version: 0 };
}

/** What is thrown here rolls the migration back. */
async function refuseWhileOldNodesWork(client: PoolClient, file: string, before: number | undefined): Promise<void> {
  const { oldest_program: oldest } = await readSchema(client);
  if (before === undefined || oldest === undefined || oldest === before) return;
  const old = (await aliveNodes(client)).filter(({ schema_known }) => schema_known < oldest);
  if (old.length === 0) return;
  const names = old.map(({ node, version }) => `${node} (${version})`).join(", ");
  throw new StoreRefused(
    `the migration ${file} takes away what older programs need, and some still work with this database: ${names}. Stop them, or bring them to the release before this one first.`,
  );
}

function migrationFiles(folder: URL): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".sql"))
    .sort();
}

async function checkServer(client: PoolClient): Promise<void> {
  const { rows } = await client.query<{ number: string; encoding: string }>(
    "SELECT current_setting('server_version_num') AS number, current_setting('server_encoding') AS encoding",
  );
  const { number = "0", encoding = "" } = rows[0] ?? {};
  if (Number(number) < OLDEST_SERVER)
    throw new StoreRefused(`PostgreSQL ${Math.floor(Number(number) / 10_000)} is too old: Inlet needs 15 or newer.`);
  if (encoding !== "UTF8") throw new StoreRefused(`the database has the encoding ${encoding}: Inlet needs UTF8.`);
}
