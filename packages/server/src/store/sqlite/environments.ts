/** Environments in SQLite. Few rows, read whole. */

import type { DatabaseSync } from "node:sqlite";
import type { EnvironmentId } from "@inlet/protocol";
import type { Environment, EnvironmentKind, EnvironmentStore } from "../contract/index.ts";
import type { GroupCommit } from "./group-commit.ts";

interface EnvironmentRow {
  environment_id: number;
  name: string;
  kind: string;
  created_at: number;
  archived_at: number | null;
  body_bytes_max: number | null;
}

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

function toEnvironment(row: EnvironmentRow): Environment {
  return {
    id: row.environment_id as EnvironmentId,
    name: row.name,
    kind: row.kind as EnvironmentKind,
    createdAt: row.created_at,
    archivedAt: row.archived_at,
    bodyBytesMax: row.body_bytes_max,
  };
}
