/** Environments in SQLite. Few rows, read whole. */

import type { DatabaseSync } from "node:sqlite";
import type { Environment, EnvironmentStore } from "../contract/index.ts";
import type { GroupCommit } from "../sqlite/group-commit.ts";
import { type EnvironmentRow, toEnvironment } from "./rows.ts";

export function environmentStore(db: DatabaseSync, writer: GroupCommit): EnvironmentStore {
  const list = db.prepare("SELECT * FROM environments ORDER BY environment_id");
  const insert = db.prepare(`
    INSERT INTO environments (name, kind, created_at, body_bytes_max) VALUES (?, ?, ?, ?)
    ON CONFLICT DO NOTHING RETURNING *`);
  const update = db.prepare(`
    UPDATE environments SET
      archived_at    = CASE WHEN ? THEN ? ELSE archived_at END,
      body_bytes_max = CASE WHEN ? THEN ? ELSE body_bytes_max END,
      event_retention_ms   = CASE WHEN ? THEN ? ELSE event_retention_ms END,
      run_retention_ms     = CASE WHEN ? THEN ? ELSE run_retention_ms END,
      request_retention_ms = CASE WHEN ? THEN ? ELSE request_retention_ms END
    WHERE environment_id = ? RETURNING *`);

  return {
    environmentList: async () => (list.all() as unknown as EnvironmentRow[]).map(toEnvironment),
    environmentInsert: (params) => writer.submit(() => maybe(insert.get(params.name, params.kind, params.createdAt, params.bodyBytesMax))),
    environmentUpdate: ({ id, archivedAt, bodyBytesMax, retention: { eventsMs, runsMs, requestsMs } = {} }) =>
      writer.submit(() => maybe(update.get(...[archivedAt, bodyBytesMax, eventsMs, runsMs, requestsMs].flatMap(change), id))),
  };
}

/** Undefined leaves a column unchanged; null clears it. */
function change(value: number | null | undefined): [number, number | null] {
  return value === undefined ? [0, null] : [1, value];
}

function maybe(row: unknown): Environment | null {
  return row ? toEnvironment(row as EnvironmentRow) : null;
}
