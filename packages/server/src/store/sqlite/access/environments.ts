/** Environments in SQLite. Few rows, read whole. */

import type { DatabaseSync } from "node:sqlite";
import type { Environment, EnvironmentStore } from "../../contract/index.ts";
import { type EnvironmentRow, toEnvironment } from "../../rows/environment-rows.ts";
import type { GroupCommit } from "../group-commit.ts";

export function environmentStore(db: DatabaseSync, writer: GroupCommit): EnvironmentStore {
  const list = db.prepare("SELECT * FROM environments ORDER BY environment_id");
  const insert = db.prepare(`
    INSERT INTO environments (name, kind, created_at, body_bytes_max) VALUES (?, ?, ?, ?)
    ON CONFLICT DO NOTHING RETURNING *`);
  const update = db.prepare(`
    UPDATE environments SET
      archived_at    = CASE WHEN ? THEN ? ELSE archived_at END,
      body_bytes_max = CASE WHEN ? THEN ? ELSE body_bytes_max END
    WHERE environment_id = ? RETURNING *`);

  return {
    environmentList: async () => (list.all() as unknown as EnvironmentRow[]).map(toEnvironment),
    environmentInsert: (params) => writer.submit(() => maybe(insert.get(params.name, params.kind, params.createdAt, params.bodyBytesMax))),
    environmentUpdate: ({ id, archivedAt, bodyBytesMax }) =>
      writer.submit(() => maybe(update.get(...change(archivedAt), ...change(bodyBytesMax), id))),
  };
}

/** Undefined leaves a column as it is; null empties it. */
function change(value: number | null | undefined): [number, number | null] {
  return value === undefined ? [0, null] : [1, value];
}

function maybe(row: unknown): Environment | null {
  return row ? toEnvironment(row as EnvironmentRow) : null;
}
