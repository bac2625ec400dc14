/** Counts the events of a batch that are not duplicates, without storing them. */

import type { EventId } from "@inlet/protocol";
import type { EventBatch } from "../../contract/index.ts";
import { dedupKeyOf, type KeyHash } from "../../dedup-keys/policy.ts";
import { boundedKey } from "../../postgres/bounded-key.ts";
import type { Database } from "../../postgres/database.ts";
import { countDistinct } from "../policy.ts";

const FIND_KEYS = "SELECT dedup_key FROM dedup_keys WHERE environment_id = $1 AND dedup_key = ANY ($2::text[]) AND first_seen_at > $3";
const FIND_IDS = "SELECT event_id FROM events WHERE environment_id = $1 AND event_id = ANY ($2::text[])";

export async function countNew(database: Database, keyHash: KeyHash, batch: EventBatch): Promise<number> {
  const { environmentId, events, duplicateSince, idsFromSender } = batch;
  const keyOf = (dedupId: string) => boundedKey(dedupKeyOf(batch, dedupId, keyHash));
  const keys = events.flatMap(({ dedupId }) => (dedupId === null ? [] : [keyOf(dedupId)]));
  const seen = new Set<string>();
  const ids = new Set<EventId>();
  if (keys.length > 0)
    for (const row of await database.query<{ dedup_key: string }>(FIND_KEYS, [environmentId, keys, duplicateSince]))
      seen.add(row.dedup_key);
  if (idsFromSender)
    for (const row of await database.query<{ event_id: EventId }>(FIND_IDS, [environmentId, events.map(({ id }) => id)]))
      ids.add(row.event_id);
  const found = events.filter(({ id, dedupId }) => !(dedupId !== null && seen.has(keyOf(dedupId))) && !ids.has(id));
  return countDistinct(found, idsFromSender);
}
