/** Environments in PostgreSQL. Few rows, read whole. */

import { DIRECTORY_NO, type EnvironmentStore } from "../contract/index.ts";
import type { Database } from "../postgres/database.ts";
import type { Announced } from "../postgres/nodes/announce.ts";
import { changedColumns, type EnvironmentRow, toEnvironment } from "./rows.ts";

const INSERT = `
  INSERT INTO environments (name, kind, created_at, body_bytes_max, database_no) VALUES ($1, $2, $3, $4, $5)
  ON CONFLICT DO NOTHING RETURNING *`;
/** Each column with two values: whether it changes, and to what. */
const COLUMNS = Object.keys(changedColumns({}));
const UPDATE = `
  UPDATE environments SET
    ${COLUMNS.map((column, n) => `${column} = CASE WHEN $${2 * n + 1}::boolean THEN $${2 * n + 2}::bigint ELSE ${column} END`).join(", ")}
  WHERE environment_id = $${2 * COLUMNS.length + 1} RETURNING *`;

export function environmentStore(database: Database, announced: Announced): EnvironmentStore {
  const one = async (text: string, values: readonly unknown[]) => {
    const [row] = await announced("directory", (client) => client.query<EnvironmentRow>(text, [...values]).then(({ rows }) => rows));
    return row ? toEnvironment(row) : null;
  };
  return {
    environmentList: async () =>
      (await database.query<EnvironmentRow>("SELECT * FROM environments ORDER BY environment_id")).map(toEnvironment),
    environmentInsert: ({ name, kind, createdAt, bodyBytesMax, databaseNo = DIRECTORY_NO }) =>
      one(INSERT, [name, kind, createdAt, bodyBytesMax, databaseNo]),
    environmentUpdate: ({ id, ...changes }) => one(UPDATE, [...Object.values(changedColumns(changes)).flatMap(change), id]),
  };
}

/** Undefined leaves a column unchanged; null clears it. */
function change(value: number | null | undefined): [boolean, number | null] {
  return value === undefined ? [false, null] : [true, value];
}
