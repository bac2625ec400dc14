/**
 * Migrates a database to the schema of this program: numbered SQL files, forward only, each in its own transaction; and the
 * functions of the database, one per file under `functions/`, replaced as a whole with every upgrade. A release that changes a function
 * therefore adds a numbered file, which says why.
 *
 * Nodes of two releases may run side by side while a cluster is upgraded, so a program may find a schema that is newer than
 * itself. The database stores how old a program may be (`oldest_program`): an older one refuses to start. Conversely, a migration that
 * older programs cannot work with is not applied while one of them is alive.
 */

import { readdirSync, readFileSync } from "node:fs";
import type { PoolClient } from "pg";
import { StoreRefused } from "../../contract/index.ts";
import { numberNewSequences } from "../../databases/postgres/number-sequences.ts";
import type { Database } from "../database.ts";
import { aliveNodes, MIGRATION_LOCK } from "../nodes/nodes.ts";

export const SCHEMA_FOLDER = new URL("./", import.meta.url);
const OLDEST_SERVER = 150_000;

/** Anything else is refused, or created, under the lock. */
const IS_USABLE = `
  SELECT to_regclass('schema_version') IS NOT NULL AND to_regclass('number_blocks') IS NULL
    AND current_setting('server_version_num')::integer >= $1 AS usable`;

interface SchemaRow {
  version: number;
  /** Absent before the first file is applied. */
  oldest_program?: number;
}

/** The newest schema that this program knows. */
export function schemaKnown(folder: URL = SCHEMA_FOLDER): number {
  return sqlFiles(folder).length;
}

export async function migrate(database: Database, folder: URL = SCHEMA_FOLDER): Promise<void> {
  if (await isCurrent(database, folder)) return;
  for (let isBehind = true; isBehind; ) isBehind = await database.transaction((client) => migrateOne(client, folder), "migration");
}

/** Most starts have nothing to do, and need no lock to see it. */
async function isCurrent(database: Database, folder: URL): Promise<boolean> {
  const [is] = await database.query<{ usable: boolean }>(IS_USABLE, [OLDEST_SERVER]);
  if (!is?.usable) return false;
  const [row] = await database.query<SchemaRow>("SELECT * FROM schema_version");
  return row?.version === schemaKnown(folder);
}

/** Returns true if there is more to do. The lock belongs to the transaction, so this works through a transaction-pooling proxy. */
async function migrateOne(client: PoolClient, folder: URL): Promise<boolean> {
  await client.query("SELECT pg_advisory_xact_lock($1)", [MIGRATION_LOCK]);
  await refuseServer(client);
  await refuseDevelopmentTables(client);
  await client.query(
    "CREATE TABLE IF NOT EXISTS schema_version (only_row integer PRIMARY KEY CHECK (only_row = 1), version integer NOT NULL)",
  );
  const files = sqlFiles(folder);
  const { version, oldest_program: oldest = version } = await readSchema(client);
  if (version > files.length && oldest > files.length) {
    throw new StoreRefused(
      `the database has schema ${version}, which programs older than schema ${oldest} cannot use, and this program knows schemas up to ${files.length}: it was migrated by a newer version of Inlet. Start that version, or restore an older backup.`,
    );
  }
  const next = files[version];
  if (next === undefined) return false;
  await replaceFunctions(client, folder);
  await client.query(readFileSync(new URL(next, folder), "utf8"));
  await client.query("INSERT INTO schema_version (only_row, version) VALUES (1, $1) ON CONFLICT (only_row) DO UPDATE SET version = $1", [
    version + 1,
  ]);
  await numberNewSequences(client);
  if (version > 0) await refuseWhileOldNodesWork(client, next, oldest);
  return true;
}

/** Created before the tables, which may use them: references in a PL/pgSQL function are resolved when it runs. */
async function replaceFunctions(client: PoolClient, folder: URL): Promise<void> {
  const functions = new URL("functions/", folder);
  for (const file of sqlFiles(functions)) await client.query(readFileSync(new URL(file, functions), "utf8"));
}

async function readSchema(client: PoolClient): Promise<SchemaRow> {
  const { rows } = await client.query<SchemaRow>("SELECT * FROM schema_version");
  return rows[0] ?? { version: 0 };
}

/** An error thrown here rolls the migration back. */
async function refuseWhileOldNodesWork(client: PoolClient, file: string, before: number): Promise<void> {
  const { oldest_program: oldest = before } = await readSchema(client);
  if (oldest === before) return;
  const old = (await aliveNodes(client)).filter(({ schema_known }) => schema_known < oldest);
  if (old.length === 0) return;
  const names = old.map(({ node, version }) => `${node} (${version})`).join(", ");
  throw new StoreRefused(
    `the migration ${file} takes away what older programs need, and some still work with this database: ${names}. Stop them, or bring them to the release before this one first.`,
  );
}

function sqlFiles(folder: URL): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".sql"))
    .sort();
}

async function refuseServer(client: PoolClient): Promise<void> {
  const { rows } = await client.query<{ number: string; encoding: string }>(
    "SELECT current_setting('server_version_num') AS number, current_setting('server_encoding') AS encoding",
  );
  const { number = "0", encoding = "" } = rows[0] ?? {};
  if (Number(number) < OLDEST_SERVER)
    throw new StoreRefused(`PostgreSQL ${Math.floor(Number(number) / 10_000)} is too old: Inlet needs 15 or newer.`);
  if (encoding !== "UTF8") throw new StoreRefused(`the database has the encoding ${encoding}: Inlet needs UTF8.`);
}

/** Unreleased versions had other tables, which no migration supports. All of them had this sequence. */
async function refuseDevelopmentTables(client: PoolClient): Promise<void> {
  const { rows } = await client.query<{ found: boolean }>("SELECT to_regclass('number_blocks') IS NOT NULL AS found");
  if (!rows[0]?.found) return;
  throw new StoreRefused(
    "the database was made by a development version of Inlet from before its first release, and its tables cannot be upgraded. Nothing was changed. Name an empty database in --database-url, and send again what it is to hold.",
  );
}
