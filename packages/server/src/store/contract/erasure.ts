/**
 * Permanent erasure of the content of events: payloads, and the copies of them in runs, calls, request records and internal events. Ids,
 * names, times and counts remain.
 */

import type { EnvironmentId, RunNo } from "@inlet/protocol";

export interface ErasureOutcome {
  /** Unfinished runs of these events, or of internal events that repeat them. If there are any, nothing was erased. */
  unfinished: RunNo[];
  /** Ended runs with a call still in progress, whose response is pending. If there are any, nothing was erased. */
  calling: RunNo[];
}

export interface ErasureStore {
  /** Overwrites the content of these events and everything derived from it, in one transaction. Idempotent. */
  eventErase(params: { environmentId: EnvironmentId; sequences: readonly number[] }): Promise<ErasureOutcome>;
  /** Removes the overwritten bytes from the store's files as far as the engine can: from the write-ahead log and dead row versions. */
  erasureSettle(): Promise<void>;
}
