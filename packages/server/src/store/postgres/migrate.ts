/** Brings a database to the schema of this program: numbered SQL files, forward only, each in a transaction of its own. */

import { readdirSync, readFileSync } from "node:fs";
import type { PoolClient, QueryConfig } from "pg";
import { StoreRefused } from "../contract/index.ts";
import type { Database } from "./database.ts";

const MIGRATIONS = new URL("./migrations/", import.meta.url);
/** Of nodes that start together one migrates, and the others wait for it. */
const MIGRATION_LOCK = 7_263;
/** Indexes of large tables take their time. */
const MIGRATION_TIMEOUT_MS = 12 * 3_600_000;
const OLDEST_SERVER = 150_000;

export async function migrate(database: Database): Promise<void> {
  const files = readdirSync(MIGRATIONS)
    .filter((name) => name.endsWith(".sql"))
    .sort();
  for (let isBehind = true; isBehind; ) isBehind = await database.transaction((client) => migrateOne(client, files));
}

/** True when there is more to do. The lock belongs to the transaction, so this works through a proxy that pools transactions. */
async function migrateOne(client: PoolClient, files: readonly string[]): Promise<boolean> {
  await patiently(client, "SELECT pg_advisory_xact_lock($1)", [MIGRATION_LOCK]);
  await checkServer(client);
  await client.query(
    "CREATE TABLE IF NOT EXISTS schema_version (only_row integer PRIMARY KEY CHECK (only_row = 1), version integer NOT NULL)",
  );
  const { rows } = await client.query<{ version: number }>("SELECT version FROM schema_version");
  const version = rows[0]?.version ?? 0;
  if (version > files.length) {
    throw new StoreRefused(
      `the database has schema ${version}, this program knows schemas up to ${files.length}: it was migrated by a newer version of Inlet. Start that version, or restore an older backup.`,
    );
  }
  const next = files[version];
  if (next === undefined) return false;
  await patiently(client, readFileSync(new URL(next, MIGRATIONS), "utf8"));
  await client.query("INSERT INTO schema_version VALUES (1, $1) ON CONFLICT (only_row) DO UPDATE SET version = excluded.version", [
    version + 1,
  ]);
  return true;
}

/** A text without values may hold several statements. */
async function patiently(client: PoolClient, text: string, values?: unknown[]): Promise<void> {
  await client.query({ text, ...(values && { values }), query_timeout: MIGRATION_TIMEOUT_MS } as QueryConfig);
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
