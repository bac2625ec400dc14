/** Expiry of dedup keys in PostgreSQL; writing them is part of write_units. */

import type { DedupKeyStore } from "../../contract/index.ts";
import type { Database } from "../database.ts";

export function dedupKeyStore(database: Database): DedupKeyStore {
  return {
    // A key that an event is just being compared with is left for the next time.
    async dedupKeyExpireMany({ seenUntil, limit }) {
      const rows = await database.query(
        `DELETE FROM dedup_keys WHERE (environment_id, dedup_key) IN (
           SELECT environment_id, dedup_key FROM dedup_keys WHERE first_seen_at <= $1 ORDER BY first_seen_at LIMIT $2 FOR UPDATE SKIP LOCKED)
         RETURNING 1`,
        [seenUntil, limit],
      );
      return rows.length;
    },
  };
}
