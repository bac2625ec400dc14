/** Idempotency keys: requests that create something are recorded, so that a client that lost the response can repeat them. */

export interface RememberedCall {
  /** Distinguishes requests that use the same key. */
  fingerprint: string;
  startedAt: number;
  /** Null while the request is in progress. */
  answer: { status: number; body: string } | null;
}

export interface IdempotencyKeyRef {
  /** The owner of the key: equal keys of two clients are different keys. */
  owner: string;
  key: string;
}

export interface IdempotencyStore {
  /**
   * Claims the key for a request. Returns the request that already holds it, or null if this request holds it now: because it was free,
   * because it was claimed at or before `abandonedUntil` and never completed, or because it was claimed at or before `forgottenUntil`.
   */
  idempotencyClaim(
    params: IdempotencyKeyRef & { fingerprint: string; startedAt: number; abandonedUntil: number; forgottenUntil: number },
  ): Promise<RememberedCall | null>;
  idempotencyResponse(params: IdempotencyKeyRef & { status: number; body: string }): Promise<void>;
  /** The request had no effect: the key is free again. */
  idempotencyRelease(params: IdempotencyKeyRef): Promise<void>;
  /** Removes the keys whose response contains one of these ids, of events and approvals. */
  idempotencyForget(params: { ids: readonly string[] }): Promise<void>;
  /** Removes at most `limit` keys claimed at or before `startedUntil`. Returns how many. */
  idempotencyExpireMany(params: { startedUntil: number; limit: number }): Promise<number>;
}
