/** Environments in PostgreSQL. Few rows, read whole. */

import { DIRECTORY_NO, type EnvironmentCopies, type EnvironmentStore } from "../contract/index.ts";
import type { Database } from "../postgres/database.ts";
import { jsonRows, recordset } from "../postgres/json-rows.ts";
import type { Announced } from "../postgres/nodes/announce.ts";
import { changedColumns, type EnvironmentRow, toEnvironment, toRow } from "./rows.ts";

const INSERT = `
  INSERT INTO environments (name, kind, created_at, body_bytes_max, database_no) VALUES ($1, $2, $3, $4, $5)
  ON CONFLICT DO NOTHING RETURNING *`;
/** Each column with two values: whether it changes, and to what. */
const COLUMNS = Object.keys(changedColumns({}));
const UPDATE = `
  UPDATE environments SET
    ${COLUMNS.map((column, n) => `${column} = CASE WHEN $${2 * n + 1}::boolean THEN $${2 * n + 2}::bigint ELSE ${column} END`).join(", ")}
  WHERE environment_id = $${2 * COLUMNS.length + 1} RETURNING *`;

const COPIED = { environment_id: "integer", name: "text", kind: "text", created_at: "bigint", database_no: "integer" };
const COPIED_COLUMNS = { ...COPIED, ...Object.fromEntries(COLUMNS.map((column) => [column, "bigint"])) };
const COPIED_NAMES = Object.keys(COPIED_COLUMNS);
const CHANGING = ["database_no", ...COLUMNS];
/** Rows that are the same already are left alone: transactions that refer to them would wait. */
const COPY = `
  INSERT INTO environments AS e (${COPIED_NAMES.join(", ")}) SELECT ${COPIED_NAMES.map((name) => `r.${name}`).join(", ")}
  FROM ${recordset(COPIED_COLUMNS)}
  ON CONFLICT (environment_id) DO UPDATE SET ${CHANGING.map((column) => `${column} = excluded.${column}`).join(", ")}
  WHERE (${CHANGING.map((column) => `e.${column}`).join(", ")}) IS DISTINCT FROM (${CHANGING.map((column) => `excluded.${column}`).join(", ")})`;

export function environmentStore(database: Database, announced: Announced): EnvironmentStore & EnvironmentCopies {
  const one = async (text: string, values: readonly unknown[]) => {
    const [row] = await announced("directory", (client) => client.query<EnvironmentRow>(text, [...values]).then(({ rows }) => rows));
    return row ? toEnvironment(row) : null;
  };
  return {
    environmentList: async () =>
      (await database.query<EnvironmentRow>("SELECT * FROM environments ORDER BY environment_id")).map(toEnvironment),
    environmentInsert: ({ name, kind, createdAt, bodyBytesMax, databaseNo = DIRECTORY_NO }) =>
      one(INSERT, [name, kind, createdAt, bodyBytesMax, databaseNo]),
    async environmentCopy({ environments }) {
      if (environments.length > 0) await database.query(COPY, [jsonRows(environments.map(toRow))]);
    },
    environmentUpdate: ({ id, ...changes }) => one(UPDATE, [...Object.values(changedColumns(changes)).flatMap(change), id]),
  };
}

/** Undefined leaves a column unchanged; null clears it. */
function change(value: number | null | undefined): [boolean, number | null] {
  return value === undefined ? [false, null] : [true, value];
}
