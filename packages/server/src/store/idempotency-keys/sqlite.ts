/** Idempotency keys in SQLite. */

import type { DatabaseSync } from "node:sqlite";
import { ID_TIME_LETTERS } from "@inlet/protocol/event-id";
import type { IdempotencyStore, RememberedCall } from "../contract/index.ts";
import type { GroupCommit } from "../sqlite/group-commit.ts";
import { idTimesIn } from "./policy.ts";

interface CallRow {
  fingerprint: string;
  started_at: number;
  status: number | null;
  body: string | null;
}

/** ?: ids. */
export const FORGET = `
  DELETE FROM idempotency_keys WHERE (owner, key) IN (
    SELECT k.owner, k.key FROM json_each(?) AS one
    CROSS JOIN idempotency_key_times AS t ON t.id_time = substr(one.value, 1, ${ID_TIME_LETTERS})
    CROSS JOIN idempotency_keys AS k ON k.owner = t.owner AND k.key = t.key WHERE instr(k.body, one.value) > 0)`;

export function idempotencyStore(db: DatabaseSync, writer: GroupCommit): IdempotencyStore {
  const find = db.prepare("SELECT fingerprint, started_at, status, body FROM idempotency_keys WHERE owner = ? AND key = ?");
  const claim = db.prepare(`
    INSERT INTO idempotency_keys (owner, key, fingerprint, started_at) VALUES (?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET fingerprint = excluded.fingerprint, started_at = excluded.started_at, status = NULL, body = NULL`);
  const answer = db.prepare("UPDATE idempotency_keys SET status = ?, body = ? WHERE owner = ? AND key = ?");
  const release = db.prepare("DELETE FROM idempotency_keys WHERE owner = ? AND key = ?");
  const noteTimes = db.prepare(
    "INSERT INTO idempotency_key_times (owner, key, id_time) SELECT ?, ?, value FROM json_each(?) WHERE true ON CONFLICT DO NOTHING",
  );
  const forget = db.prepare(FORGET);
  const expire = db.prepare(`
    DELETE FROM idempotency_keys WHERE (owner, key) IN (
      SELECT owner, key FROM idempotency_keys WHERE started_at <= ? ORDER BY started_at LIMIT ?)`);

  return {
    idempotencyClaim: ({ owner, key, fingerprint, startedAt, abandonedUntil, forgottenUntil }) =>
      writer.submit(() => {
        const known = toCall(find.get(owner, key));
        const isOver = known && known.startedAt <= (known.answer ? forgottenUntil : abandonedUntil);
        if (known && !isOver) return known;
        claim.run(owner, key, fingerprint, startedAt);
        return null;
      }),
    idempotencyResponse: ({ owner, key, status, body }) =>
      writer.submit(() => {
        if (answer.run(status, body, owner, key).changes === 0) return;
        noteTimes.run(owner, key, JSON.stringify(idTimesIn(body)));
      }),
    idempotencyRelease: ({ owner, key }) => writer.submit(() => void release.run(owner, key)),
    idempotencyForget: ({ ids }) => writer.submit(() => void forget.run(JSON.stringify(ids))),
    idempotencyExpireMany: ({ startedUntil, limit }) => writer.submit(() => Number(expire.run(startedUntil, limit).changes), limit),
  };
}

function toCall(row: unknown): RememberedCall | null {
  if (!row) return null;
  const { fingerprint, started_at, status, body } = row as CallRow;
  return { fingerprint, startedAt: started_at, answer: status === null || body === null ? null : { status, body } };
}
