/**
 * Erasing what events carried, for good: payloads, and what repeats them in runs, calls, request records and internal events. Ids, names, times
 * and counts stay.
 */

import type { EnvironmentId, RunNo } from "@inlet/protocol";

export interface ErasureOutcome {
  /** Runs of these events, or of internal events that repeat them, that have not ended. If there are any, nothing was erased. */
  unfinished: RunNo[];
  /** Runs that have ended while a call of theirs goes on, whose answer is still to come. If there are any, nothing was erased. */
  calling: RunNo[];
}

export interface ErasureStore {
  /** Overwrites, in one transaction, all that these events brought in and led to. Erasing twice does no harm. */
  eventErase(params: { environmentId: EnvironmentId; sequences: readonly number[] }): Promise<ErasureOutcome>;
  /** Rids the store's files of what was overwritten, as far as the engine can: the log of writes, and row versions that nobody sees. */
  erasureSettle(): Promise<void>;
}
