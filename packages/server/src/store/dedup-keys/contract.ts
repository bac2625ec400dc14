/** Dedup keys: when each id was first seen. Written by eventAppend; stored apart from events, so that they expire independently. */

import type { EnvironmentId, EventId } from "@inlet/protocol";

export interface DedupKeyStore {
  /** The first event that was sent with this dedup id, if it was first seen after `since`, whether or not the event is still stored. */
  dedupKeyFind(params: { environmentId: EnvironmentId; dedupId: string; since: number }): Promise<EventId | null>;
  /** Removes at most `limit` keys first seen at or before `seenUntil`. Returns how many. */
  dedupKeyExpireMany(params: { seenUntil: number; limit: number }): Promise<number>;
}
