/** Idempotency keys in PostgreSQL. A claim whose response was lost is made once more: its id tells whether it was committed. */

import { randomUUID } from "node:crypto";
import { ID_TIME_LETTERS } from "@inlet/protocol/event-id";
import { type IdempotencyStore, type RememberedCall, StoreUnavailable } from "../contract/index.ts";
import { boundedKey } from "../postgres/bounded-key.ts";
import type { Database } from "../postgres/database.ts";
import { isConnectionLost } from "../postgres/failures.ts";
import { idTimesIn } from "./policy.ts";

interface CallRow {
  fingerprint: string;
  started_at: number;
  status: number | null;
  body: string | null;
}

/**
 * Of two requests with the same key, on any nodes, one gets it; the other waits for the row and then finds it taken. A claim that reaches the
 * database late, after it was repeated and the request has its response, changes nothing.
 */
const CLAIM = `
  INSERT INTO idempotency_keys AS k (owner, key, fingerprint, started_at, claim_id) VALUES ($1, $2, $3, $4, $7)
  ON CONFLICT (owner, key) DO UPDATE SET
    fingerprint = excluded.fingerprint, started_at = excluded.started_at, status = NULL, body = NULL, claim_id = excluded.claim_id
  WHERE k.claim_id = excluded.claim_id AND k.status IS NULL
    OR k.started_at <= CASE WHEN k.status IS NULL OR k.body IS NULL THEN $5::bigint ELSE $6::bigint END
  RETURNING 1`;

/** $1: ids. */
export const FORGET = `
  DELETE FROM idempotency_keys AS k USING unnest($1::text[]) AS one(id) JOIN idempotency_key_times AS t ON t.id_time = left(one.id, ${ID_TIME_LETTERS})
  WHERE k.owner = t.owner AND k.key = t.key AND strpos(k.body, one.id) > 0`;

const RESPOND = `
  WITH kept AS (UPDATE idempotency_keys SET status = $1, body = $2 WHERE owner = $3 AND key = $4 RETURNING owner, key)
  INSERT INTO idempotency_key_times (owner, key, id_time) SELECT owner, key, id_time FROM kept, unnest($5::text[]) AS id_time
  ON CONFLICT DO NOTHING`;

export function idempotencyStore(database: Database): IdempotencyStore {
  return {
    async idempotencyClaim({ owner, key, fingerprint, startedAt, abandonedUntil, forgottenUntil }) {
      const own = [owner, boundedKey(key)];
      const values = [...own, fingerprint, startedAt, abandonedUntil, forgottenUntil, randomUUID()];
      const claim = () => database.query(CLAIM, values);
      for (;;) {
        const claimed = await claim().catch((error) => (isResponseLost(error) ? claim() : Promise.reject(error)));
        if (claimed.length > 0) return null;
        const [known] = await database.query<CallRow>("SELECT * FROM idempotency_keys WHERE owner = $1 AND key = $2", own);
        // It was released in the meantime and can be claimed.
        if (known) return toCall(known);
      }
    },
    async idempotencyResponse({ owner, key, status, body }) {
      await database.query(RESPOND, [status, body, owner, boundedKey(key), idTimesIn(body)]);
    },
    async idempotencyRelease({ owner, key }) {
      await database.query("DELETE FROM idempotency_keys WHERE owner = $1 AND key = $2", [owner, boundedKey(key)]);
    },
    async idempotencyForget({ ids }) {
      await database.query(FORGET, [ids], "maintenance");
    },
    async idempotencyExpireMany({ startedUntil, limit }) {
      const rows = await database.query(
        `WITH old AS MATERIALIZED (
           SELECT owner, key FROM idempotency_keys WHERE started_at <= $1 ORDER BY started_at LIMIT $2 FOR UPDATE SKIP LOCKED)
         DELETE FROM idempotency_keys WHERE (owner, key) IN (SELECT * FROM old) RETURNING 1`,
        [startedUntil, limit],
        "maintenance",
      );
      return rows.length;
    },
  };
}

function isResponseLost(error: unknown): boolean {
  return error instanceof StoreUnavailable && isConnectionLost(error.cause);
}

function toCall({ fingerprint, started_at, status, body }: CallRow): RememberedCall {
  return { fingerprint, startedAt: started_at, answer: status === null || body === null ? null : { status, body } };
}
