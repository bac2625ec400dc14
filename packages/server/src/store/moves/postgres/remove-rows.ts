/** Removes the rows of an environment from a database, in small transactions. */

import type { EnvironmentId } from "@inlet/protocol";
import type { PoolClient } from "pg";
import type { MovedTable } from "./moved-tables.ts";

const ROWS_MAX = 500;

/** Rows of the first table that has some; those that refer to others come first. Returns how many: 0 when none is left. */
export async function removeSome(client: PoolClient, tables: readonly MovedTable[], environmentId: EnvironmentId): Promise<number> {
  for (const { name, key } of tables.toReversed()) {
    const names = ["environment_id", ...key.map((column) => column.name)];
    const same = names.map((column) => `t.${column} = old.${column}`).join(" AND ");
    const old = `SELECT ${names.join(", ")} FROM ${name} WHERE environment_id = $1 LIMIT ${ROWS_MAX}`;
    const { rowCount } = await client.query(`WITH old AS MATERIALIZED (${old}) DELETE FROM ${name} AS t USING old WHERE ${same}`, [
      environmentId,
    ]);
    if (rowCount) return rowCount;
  }
  return 0;
}
