/**
 * Statistics for tables that have none yet. Every day brings new partitions, and until PostgreSQL has looked at one, which it does
 * about once a minute, it takes an environment for a small part of it and may read all of an index. One node looks at a time.
 */

import type { Database } from "../database.ts";

const ANALYZE_LOCK = 7_267;
/** Smaller ones are read quickly in any way. */
const BYTES_MIN = 20 * 8_192;
/** A table that was never looked at has this for its number of rows. */
const YOUNG = `
  SELECT oid::regclass::text AS name FROM pg_class
  WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace AND reltuples = -1 AND pg_relation_size(oid) >= $1`;

/** Says which tables it looked at. */
export function analyzeYoungTables(database: Database): Promise<string[]> {
  return database.transaction(async (client) => {
    const { rows: turn } = await client.query<{ mine: boolean }>("SELECT pg_try_advisory_xact_lock($1) AS mine", [ANALYZE_LOCK]);
    if (!turn[0]?.mine) return [];
    const { rows } = await client.query<{ name: string }>(YOUNG, [BYTES_MIN]);
    for (const { name } of rows) await client.query(`ANALYZE ${name}`);
    return rows.map(({ name }) => name);
  });
}
