/** Dedup keys in PostgreSQL: claimed in the transaction of their events, and expired. */

import type { EventId } from "@inlet/protocol";
import type { DedupKeyStore } from "../contract/index.ts";
import { boundedKey } from "../postgres/bounded-key.ts";
import type { Database } from "../postgres/database.ts";
import type { PendingWrites } from "../postgres/pending-writes.ts";

/** An event whose dedup id has not been checked yet. */
export interface KeyClaim {
  key: string;
  eventId: EventId;
  receivedAt: number;
  /** A key first seen at or before this time is ignored. */
  duplicateSince: number;
}

/** The first event seen with a key. */
export type KeyHolder = Pick<KeyClaim, "eventId" | "receivedAt">;

interface KeyRow {
  dedup_key: string;
  event_id: EventId;
  first_seen_at: number;
}

/** Of events with the same key, on any nodes, the first to write it wins; the others wait here for its commit. In key order. */
const KEEP = `
  INSERT INTO dedup_keys (environment_id, dedup_key, event_id, first_seen_at)
  SELECT $1, key, event_id, seen_at FROM unnest($2::text[], $3::text[], $4::bigint[]) AS claim(key, event_id, seen_at) ORDER BY key
  ON CONFLICT DO NOTHING RETURNING dedup_key`;
const FIND = "SELECT event_id FROM dedup_keys WHERE environment_id = $1 AND dedup_key = $2 AND first_seen_at > $3";
const LOCK = `
  SELECT dedup_key, event_id, first_seen_at FROM dedup_keys WHERE environment_id = $1 AND dedup_key = ANY ($2::text[])
  ORDER BY dedup_key FOR UPDATE`;
const RENEW = `
  UPDATE dedup_keys SET event_id = claim.event_id, first_seen_at = claim.seen_at
  FROM unnest($2::text[], $3::text[], $4::bigint[]) AS claim(key, event_id, seen_at)
  WHERE dedup_keys.environment_id = $1 AND dedup_keys.dedup_key = claim.key`;

/**
 * For each claim the first event, or null if the claim is granted. Includes earlier claims of the group. An earlier attempt that is committed only
 * while this one waits for it holds the key with the same event.
 */
export async function claimKeys(writes: PendingWrites, claims: readonly KeyClaim[]): Promise<(KeyHolder | null)[]> {
  if (claims.length === 0) return [];
  const holders = await keepOrLock(writes, claims);
  const renewed = new Map<string, KeyClaim>();
  const firsts = claims.map((claim) => {
    const holder = holders.get(claim.key) as KeyHolder;
    if (holder === claim) return null;
    if (holder.receivedAt > claim.duplicateSince) return holder;
    holders.set(claim.key, claim);
    renewed.set(claim.key, claim);
    return null;
  });
  if (renewed.size > 0) writes.send(RENEW, writes.environmentId, ...columnsOf([...renewed.values()]));
  return firsts;
}

/** The holder of each key. The first event of this group holds keys that were free. */
async function keepOrLock(writes: PendingWrites, claims: readonly KeyClaim[]): Promise<Map<string, KeyHolder>> {
  const holders = new Map<string, KeyHolder>();
  const open = new Map(claims.toReversed().map((claim) => [claim.key, claim]));
  // A held key may expire before it is locked: then it is free.
  while (open.size > 0) {
    const kept = await writes.rows<{ dedup_key: string }>(KEEP, writes.environmentId, ...columnsOf([...open.values()]));
    for (const { dedup_key } of kept) {
      holders.set(dedup_key, open.get(dedup_key) as KeyClaim);
      open.delete(dedup_key);
    }
    if (open.size === 0) break;
    for (const row of await writes.rows<KeyRow>(LOCK, writes.environmentId, [...open.keys()])) {
      holders.set(row.dedup_key, { eventId: row.event_id, receivedAt: row.first_seen_at });
      open.delete(row.dedup_key);
    }
  }
  return holders;
}

function columnsOf(claims: readonly KeyClaim[]): [string[], EventId[], number[]] {
  return [claims.map(({ key }) => key), claims.map(({ eventId }) => eventId), claims.map(({ receivedAt }) => receivedAt)];
}

export function dedupKeyStore(database: Database): DedupKeyStore {
  return {
    async dedupKeyFind({ environmentId, dedupId, since }) {
      const [row] = await database.query<{ event_id: EventId }>(FIND, [environmentId, boundedKey(dedupId), since]);
      return row?.event_id ?? null;
    },
    // A key that is currently being compared is left for the next call.
    async dedupKeyExpireMany({ seenUntil, limit }) {
      const rows = await database.query(
        `WITH old AS MATERIALIZED (
           SELECT environment_id, dedup_key FROM dedup_keys WHERE first_seen_at <= $1 ORDER BY first_seen_at LIMIT $2 FOR UPDATE SKIP LOCKED)
         DELETE FROM dedup_keys WHERE (environment_id, dedup_key) IN (SELECT * FROM old) RETURNING 1`,
        [seenUntil, limit],
        "maintenance",
      );
      return rows.length;
    },
  };
}
