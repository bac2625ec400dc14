/** Dedup keys: which ids were seen first when. Written by eventAppend; kept apart from events, so that they expire on their own. */

export interface DedupKeyStore {
  /** Removes at most `limit` keys first seen at or before `seenUntil`; says how many. */
  dedupKeyExpireMany(params: { seenUntil: number; limit: number }): Promise<number>;
}
