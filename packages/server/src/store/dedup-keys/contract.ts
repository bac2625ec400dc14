/** Dedup keys: when each id was first seen. Written by eventAppend; stored apart from events, so that they expire independently. */

export interface DedupKeyStore {
  /** Removes at most `limit` keys first seen at or before `seenUntil`. Returns how many. */
  dedupKeyExpireMany(params: { seenUntil: number; limit: number }): Promise<number>;
}
