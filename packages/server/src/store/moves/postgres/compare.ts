/**
 * Compares an environment in two databases, while it is held: the number and the checksums of the rows of each table. Tables with many
 * rows would take longer than a hold may last: of those, each batch was compared when it was written (copy-rows.ts).
 */

import type { EnvironmentId } from "@inlet/protocol";
import type { PoolClient } from "pg";
import type { Database } from "../../postgres/database.ts";
import type { MovedTable } from "./moved-tables.ts";
import { rowJson } from "./row-text.ts";

const ROWS_MAX = 20_000;

interface Sum {
  rows: number;
  sum: string | null;
}

/** The tables that differ. */
export async function tablesThatDiffer(
  [one, other]: readonly [Database, Database],
  tables: readonly MovedTable[],
  environmentId: EnvironmentId,
): Promise<MovedTable[]> {
  const [here, there] = await Promise.all([sumsOf(one, tables, environmentId), sumsOf(other, tables, environmentId)]);
  return tables.filter((_, n) => here[n]?.rows !== there[n]?.rows || here[n]?.sum !== there[n]?.sum);
}

/** Sent together, so that the hold does not last for a round trip per table. */
function sumsOf(database: Database, tables: readonly MovedTable[], environmentId: EnvironmentId): Promise<Sum[]> {
  return database.transaction((client) => Promise.all(tables.map((table) => sumOf(client, table, environmentId))));
}

/** Null for the sum of a table that has too many rows. The sum does not depend on their order. */
async function sumOf(client: PoolClient, { name, columns }: MovedTable, environmentId: EnvironmentId): Promise<Sum> {
  const few = `SELECT FROM ${name} WHERE environment_id = $1 LIMIT ${ROWS_MAX + 1}`;
  const text = `
    WITH size AS MATERIALIZED (SELECT count(*) AS rows FROM (${few}) AS counted)
    SELECT size.rows, (
      SELECT sum(('x' || left(md5(${rowJson(columns)}), 15))::bit(60)::bigint)::varchar FROM ${name} AS t
      WHERE t.environment_id = $1 AND size.rows <= ${ROWS_MAX}) AS sum
    FROM size`;
  return (await client.query<Sum>(text, [environmentId])).rows[0] as Sum;
}
