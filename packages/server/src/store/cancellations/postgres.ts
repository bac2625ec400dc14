/** Bulk cancellations in PostgreSQL. */

import type { CancellationStore } from "../contract/index.ts";
import type { Database } from "../postgres/database.ts";
import { notFenced } from "../postgres/fenced.ts";
import { type CancellationRow, toCancellation } from "./rows.ts";

const INSERT = `
  INSERT INTO cancellations (environment_id, cancellation_id, function_id, started_after, started_before, expression, created_at, ended_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`;

const EXPIRE = `
  DELETE FROM cancellations WHERE (environment_id, cancellation_id) IN (
    SELECT environment_id, cancellation_id FROM cancellations WHERE ended_at <= $1 LIMIT $2)
  RETURNING 1`;

export function cancellationStore(database: Database): CancellationStore {
  return {
    async cancellationInsert({ environmentId, id, functionId, startedAfter, startedBefore, expression, createdAt, endedAt }) {
      await database.query(INSERT, [environmentId, id, functionId, startedAfter, startedBefore, expression, createdAt, endedAt]);
    },
    async cancellationGet({ environmentId, id }) {
      const text = "SELECT * FROM cancellations WHERE environment_id = $1 AND cancellation_id = $2";
      const [row] = await database.query<CancellationRow>(text, [environmentId, id]);
      return row ? toCancellation(row) : null;
    },
    async cancellationExpireMany({ endedUntil, limit }) {
      return (await database.query(EXPIRE, [endedUntil, limit])).length;
    },
    async cancellationList({ environmentId }) {
      const text = "SELECT * FROM cancellations WHERE environment_id = $1 ORDER BY cancellation_id DESC";
      return (await database.read<CancellationRow>(text, [environmentId])).map(toCancellation);
    },
    async cancellationListOpen() {
      const text = `SELECT * FROM cancellations WHERE ended_at IS NULL AND ${notFenced("environment_id")} ORDER BY cancellation_id`;
      return (await database.query<CancellationRow>(text)).map(toCancellation);
    },
    async cancellationEnd({ environmentId, id, endedAt }) {
      const text = "UPDATE cancellations SET ended_at = $3 WHERE environment_id = $1 AND cancellation_id = $2";
      await database.query(text, [environmentId, id, endedAt]);
    },
    async cancellationDelete({ environmentId, id }) {
      const text = "DELETE FROM cancellations WHERE environment_id = $1 AND cancellation_id = $2 RETURNING *";
      const [row] = await database.query<CancellationRow>(text, [environmentId, id]);
      return row ? toCancellation(row) : null;
    },
  };
}
