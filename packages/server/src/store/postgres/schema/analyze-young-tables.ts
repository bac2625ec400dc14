/**
 * Runs ANALYZE on tables without statistics. New partitions appear every day, and until autovacuum analyses one, about once a minute,
 * PostgreSQL underestimates the rows of an environment and may read a whole index. One node does this at a time.
 */

import type { Database } from "../database.ts";

const ANALYZE_LOCK = 7_267;
/** Smaller tables are fast with any plan. */
const BYTES_MIN = 20 * 8_192;
/** The row count of a table that was never analysed. */
const YOUNG = `
  SELECT oid::regclass::text AS name FROM pg_class
  WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace AND reltuples = -1 AND pg_relation_size(oid) >= $1`;

/** Returns the tables that it analysed. */
export function analyzeYoungTables(database: Database): Promise<string[]> {
  return database.transaction(async (client) => {
    const { rows: lock } = await client.query<{ mine: boolean }>("SELECT pg_try_advisory_xact_lock($1) AS mine", [ANALYZE_LOCK]);
    if (!lock[0]?.mine) return [];
    const { rows } = await client.query<{ name: string }>(YOUNG, [BYTES_MIN]);
    for (const { name } of rows) await client.query(`ANALYZE ${name}`);
    return rows.map(({ name }) => name);
  }, "maintenance");
}
