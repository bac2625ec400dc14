/** Bulk cancellations in SQLite. */

import type { DatabaseSync } from "node:sqlite";
import type { CancellationStore } from "../contract/index.ts";
import type { GroupCommit } from "../sqlite/group-commit.ts";
import { type CancellationRow, toCancellation } from "./rows.ts";

export function cancellationStore(db: DatabaseSync, writer: GroupCommit): CancellationStore {
  const insert = db.prepare(`
    INSERT INTO cancellations (environment_id, cancellation_id, function_id, started_after, started_before, expression, created_at, ended_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)`);
  const get = db.prepare("SELECT * FROM cancellations WHERE environment_id = ? AND cancellation_id = ?");
  const list = db.prepare("SELECT * FROM cancellations WHERE environment_id = ? ORDER BY cancellation_id DESC");
  const open = db.prepare("SELECT * FROM cancellations WHERE ended_at IS NULL ORDER BY cancellation_id");
  const end = db.prepare("UPDATE cancellations SET ended_at = ? WHERE environment_id = ? AND cancellation_id = ?");
  const remove = db.prepare("DELETE FROM cancellations WHERE environment_id = ? AND cancellation_id = ? RETURNING *");

  const expire = db.prepare(`
    DELETE FROM cancellations WHERE (environment_id, cancellation_id) IN (
      SELECT environment_id, cancellation_id FROM cancellations WHERE ended_at <= ? LIMIT ?)`);
  const read = (row: unknown) => (row ? toCancellation(row as CancellationRow) : null);

  return {
    cancellationGet: async ({ environmentId, id }) => read(get.get(environmentId, id)),
    cancellationExpireMany: ({ endedUntil, limit }) => writer.submit(() => Number(expire.run(endedUntil, limit).changes), limit),
    cancellationInsert: ({ environmentId, id, functionId, startedAfter, startedBefore, expression, createdAt, endedAt }) =>
      writer.submit(() => void insert.run(environmentId, id, functionId, startedAfter, startedBefore, expression, createdAt, endedAt)),
    cancellationList: async ({ environmentId }) => (list.all(environmentId) as unknown as CancellationRow[]).map(toCancellation),
    cancellationListOpen: async () => (open.all() as unknown as CancellationRow[]).map(toCancellation),
    cancellationEnd: ({ environmentId, id, endedAt }) => writer.submit(() => void end.run(endedAt, environmentId, id)),
    cancellationDelete: ({ environmentId, id }) => writer.submit(() => read(remove.get(environmentId, id))),
  };
}
