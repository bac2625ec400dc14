/** Idempotency keys: calls that create something, remembered so that a client that lost the answer can ask again. */

export interface RememberedCall {
  /** Tells calls apart that use the same key. */
  fingerprint: string;
  startedAt: number;
  /** Null while the call is under way. */
  answer: { status: number; body: string } | null;
}

export interface IdempotencyKeyRef {
  /** Whose key it is: another client's is another key. */
  owner: string;
  key: string;
}

export interface IdempotencyStore {
  /**
   * Claims the key for a call. Returns the call that has it already, or null when this call has it now: because nobody had, or
   * because it was claimed at or before `abandonedUntil` and never answered, or claimed at or before `forgottenUntil`.
   */
  idempotencyClaim(
    params: IdempotencyKeyRef & { fingerprint: string; startedAt: number; abandonedUntil: number; forgottenUntil: number },
  ): Promise<RememberedCall | null>;
  idempotencyAnswer(params: IdempotencyKeyRef & { status: number; body: string }): Promise<void>;
  /** The call came to nothing: the key is free again. */
  idempotencyRelease(params: IdempotencyKeyRef): Promise<void>;
  /** Removes at most `limit` keys claimed at or before `startedUntil`; says how many. */
  idempotencyExpireMany(params: { startedUntil: number; limit: number }): Promise<number>;
}
