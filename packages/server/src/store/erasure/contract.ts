/**
 * Permanent erasure of the content of events: payloads, and the copies of them in runs, calls, request records and internal events. Ids,
 * names, times and counts remain.
 */

import type { EnvironmentId, EventId, RunId, RunNo } from "@inlet/protocol";

export interface ErasureOutcome {
  /** Unfinished runs that these events, or internal events that repeat them, started or resumed. If there are any, nothing was erased. */
  unfinished: RunNo[];
  /** Ended runs with a call in progress, or a result that the invoking run has not received yet. If there are any, nothing was erased. */
  calling: RunNo[];
  /** Undecided starts of invocations with these events that an unfinished run waits for. If there are any, nothing was erased. */
  deciding: number;
  /** What the erasure covers: the events, with internal ones about their runs, and the runs. */
  sequences: number[];
  runIds: RunId[];
  /** The ids of those events that the store has, or that its rows of these runs name; empty if nothing was erased. */
  eventIds: EventId[];
}

export interface EventEraseParams {
  environmentId: EnvironmentId;
  sequences: readonly number[];
  /** Of those that are in the archive only: what the store has of them is found by their ids. Embedded stores have no archive. */
  archivedIds?: readonly EventId[];
  /** What is left of a debounce's or a batch's mark without these events; null: nothing. */
  gatheringWithout(markValue: string, sequences: ReadonlySet<number>): string | null;
  /**
   * If idempotency keys are in another database: removes those whose response contains one of these ids, of events and approvals. It is called
   * before the erasure is committed, since the ids are found again only until then.
   */
  forgetResponses?(ids: readonly string[]): Promise<void>;
}

export interface ErasureStore {
  /**
   * Overwrites the content of these events and everything derived from it, in one transaction. Starts that these events request and that have
   * not been decided are cancelled, whatever the outcome. Idempotent.
   */
  eventErase(params: EventEraseParams): Promise<ErasureOutcome>;
  /** Removes the overwritten bytes from the files that hold the environment as far as the engine can: from the write-ahead log and dead row versions. */
  erasureSettle(params: { environmentId: EnvironmentId }): Promise<void>;
}
