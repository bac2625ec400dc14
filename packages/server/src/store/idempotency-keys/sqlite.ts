/** Idempotency keys in SQLite. */

import type { DatabaseSync } from "node:sqlite";
import type { IdempotencyStore, RememberedCall } from "../contract/index.ts";
import type { GroupCommit } from "../sqlite/group-commit.ts";

interface CallRow {
  fingerprint: string;
  started_at: number;
  status: number | null;
  body: string | null;
}

export function idempotencyStore(db: DatabaseSync, writer: GroupCommit): IdempotencyStore {
  const find = db.prepare("SELECT fingerprint, started_at, status, body FROM idempotency_keys WHERE owner = ? AND key = ?");
  const claim = db.prepare(`
    INSERT INTO idempotency_keys (owner, key, fingerprint, started_at) VALUES (?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET fingerprint = excluded.fingerprint, started_at = excluded.started_at, status = NULL, body = NULL`);
  const answer = db.prepare("UPDATE idempotency_keys SET status = ?, body = ? WHERE owner = ? AND key = ?");
  const release = db.prepare("DELETE FROM idempotency_keys WHERE owner = ? AND key = ?");
  const forget = db.prepare(
    "DELETE FROM idempotency_keys WHERE EXISTS (SELECT 1 FROM json_each(?) AS one WHERE instr(body, one.value) > 0)",
  );
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
    idempotencyResponse: ({ owner, key, status, body }) => writer.submit(() => void answer.run(status, body, owner, key)),
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
