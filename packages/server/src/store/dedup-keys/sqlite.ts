/** Expiry of dedup keys in SQLite; writing them is part of append-events.ts. */

import type { DatabaseSync } from "node:sqlite";
import type { EventId } from "@inlet/protocol";
import type { DedupKeyStore } from "../contract/index.ts";
import type { GroupCommit } from "../sqlite/group-commit.ts";

export function dedupKeyStore(db: DatabaseSync, writer: GroupCommit): DedupKeyStore {
  const environments = db.prepare("SELECT environment_id FROM environments");
  const find = db.prepare("SELECT event_id FROM dedup_keys WHERE environment_id = ? AND dedup_id = ? AND first_seen_at > ?");
  const expire = db.prepare(`
    DELETE FROM dedup_keys WHERE (environment_id, dedup_id) IN (
      SELECT environment_id, dedup_id FROM dedup_keys INDEXED BY dedup_keys_by_age
      WHERE environment_id = ? AND first_seen_at <= ? ORDER BY first_seen_at LIMIT ?)`);

  function expireMany(seenUntil: number, limit: number): number {
    let removed = 0;
    for (const { environment_id } of environments.all() as { environment_id: number }[]) {
      if (removed < limit) removed += Number(expire.run(environment_id, seenUntil, limit - removed).changes);
    }
    return removed;
  }

  return {
    dedupKeyFind: async ({ environmentId, dedupId, since }) =>
      (find.get(environmentId, dedupId, since)?.event_id as EventId | undefined) ?? null,
    dedupKeyExpireMany: ({ seenUntil, limit }) => writer.submit(() => expireMany(seenUntil, limit), limit),
  };
}
