/** Environments in SQLite. Few rows, read whole. */

import type { DatabaseSync } from "node:sqlite";
import { DIRECTORY_NO, type Environment, type EnvironmentStore } from "../contract/index.ts";
import type { GroupCommit } from "../sqlite/group-commit.ts";
import { changedColumns, type EnvironmentRow, toEnvironment } from "./rows.ts";

export function environmentStore(db: DatabaseSync, writer: GroupCommit): EnvironmentStore {
  const list = db.prepare("SELECT * FROM environments ORDER BY environment_id");
  const insert = db.prepare(`
    INSERT INTO environments (name, kind, created_at, body_bytes_max, database_no) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT DO NOTHING RETURNING *`);
  const columns = Object.keys(changedColumns({})).map((column) => `${column} = CASE WHEN ? THEN ? ELSE ${column} END`);
  const update = db.prepare(`UPDATE environments SET ${columns.join(", ")} WHERE environment_id = ? RETURNING *`);

  return {
    environmentList: async () => (list.all() as unknown as EnvironmentRow[]).map(toEnvironment),
    environmentInsert: ({ name, kind, createdAt, bodyBytesMax, databaseNo = DIRECTORY_NO }) =>
      writer.submit(() => maybe(insert.get(name, kind, createdAt, bodyBytesMax, databaseNo))),
    environmentUpdate: ({ id, ...changes }) =>
      writer.submit(() => maybe(update.get(...Object.values(changedColumns(changes)).flatMap(change), id))),
  };
}

/** Undefined leaves a column unchanged; null clears it. */
function change(value: number | null | undefined): [number, number | null] {
  return value === undefined ? [0, null] : [1, value];
}

function maybe(row: unknown): Environment | null {
  return row ? toEnvironment(row as EnvironmentRow) : null;
}
