/** What a service has written, past its API: whether a secret is in there, or a fault that a test makes. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { inDatabase } from "./postgres.ts";
import type { TestService } from "./service.ts";

/** The service may have the file locked for a moment. */
const BUSY_WITHIN_MS = 60_000;

type Place = Pick<TestService, "dataDir" | "databaseUrl">;

/** Runs one statement that both engines understand, and returns its rows. */
export async function queryStore({ dataDir, databaseUrl }: Place, statement: string): Promise<unknown[]> {
  if (databaseUrl !== undefined) return inDatabase(databaseUrl, async (client) => (await client.query(statement)).rows);
  const db = new DatabaseSync(join(dataDir, "inlet.db"), { timeout: BUSY_WITHIN_MS });
  try {
    return db.prepare(statement).all();
  } finally {
    db.close();
  }
}

/** The files of the embedded store, or every row of every table. */
export async function storedText({ dataDir, databaseUrl }: Place): Promise<string> {
  if (databaseUrl !== undefined)
    return inDatabase(databaseUrl, async (client) => (await client.query(EVERY_ROW)).rows.map(({ row }) => row).join());
  return readdirSync(dataDir)
    .map((name) => readFileSync(join(dataDir, name), "latin1"))
    .join();
}

const EVERY_ROW = `
  SELECT query_to_xml('SELECT t::text AS row FROM ' || oid::regclass || ' AS t', false, true, '')::text AS row
  FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = 'public'::regnamespace`;
