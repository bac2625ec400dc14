/**
 * Starting functions with rules about their starts: rate limits, throttles, debounces, batches, singletons.
 *
 * The state of such rules is stored in marks, by function, kind and key. A queue entry represents the event that requests a
 * start. Processing it reads the marks, decides, and writes the marks and the run, if any, in one transaction.
 */

import type { EnvironmentId, EventId, FunctionNo, RunNo } from "@inlet/protocol";
import type { EventBatch, StoredEvent } from "../events/contract.ts";
import type { ClaimedEntry, Lease, LeasedEntry } from "../queue/contract.ts";
import type { Invoker, NewRun } from "../runs/contract/new-runs.ts";
import type { RunError } from "../runs/contract/steps.ts";

export interface MarkKey {
  kind: "rate" | "throttle" | "debounce" | "batch" | "singleton";
  key: string;
}

export interface MarkWrite extends MarkKey {
  /** Null deletes the mark. */
  value: string | null;
  /** When it may be deleted. */
  expiresAt: number;
}

export interface FunctionStartState {
  /** The values of the requested marks, in order; null where there is none. */
  marks: readonly (string | null)[];
  /** Events by sequence number; those that no longer exist are left out. */
  events(sequences: readonly number[]): StoredEvent[];
  /** Whether a run named by one of the requested singleton marks is unfinished. */
  isActive(runNo: RunNo): boolean;
}

export interface FunctionStartChange {
  marks?: readonly MarkWrite[];
  /** The run to start, with the event it is written for. */
  run?: { run: NewRun; event: StoredEvent };
  /** A singleton mark that stores the number of the started run. */
  holdMark?: MarkKey;
  /** The step that invoked the function, if no run is started for it: the caller notifies it and then removes the entry. */
  refused?: { invoker: Invoker; error: RunError };
  /** Runs to be replaced: an entry cancels each. */
  cancels?: readonly RunNo[];
  /** The batch or debounce under this key is due at this time; an existing entry for it is moved. Events from `since` on are retained for it. */
  gather?: { key: string; dueAt: number; since: number };
  /** Events to store, with the runs they start: a schedule's tick. */
  events?: readonly EventBatch[];
  /** The processed entry is due again at this time. Absent: it is done. */
  againAt?: number;
}

export interface FunctionStartParams {
  environmentId: EnvironmentId;
  entry: Pick<LeasedEntry, "no" | "leaseId">;
  functionNo: FunctionNo;
  marks: readonly MarkKey[];
  now: number;
  lease: Lease;
  /** The events that `decide` needs, derived from the values of the marks. Absent: none. */
  eventsNeeded?(marks: readonly (string | null)[]): readonly number[];
  decide(state: FunctionStartState): FunctionStartChange;
}

export interface MarkExpireParams {
  until: number;
  limit: number;
  /** Until when a mark is needed: the rule of its function may have changed since the mark was written. */
  neededUntil(mark: ExpiredMark): number;
}

export interface ExpiredMark {
  functionNo: FunctionNo;
  kind: MarkKey["kind"];
  value: string;
}

export interface FunctionStartStore {
  /** The event of a `start` entry; null if it no longer exists. */
  eventAt(params: { environmentId: EnvironmentId; sequence: number }): Promise<StoredEvent | null>;
  /** The events that exist, in no particular order. */
  eventsAt(params: { environmentId: EnvironmentId; sequences: readonly number[] }): Promise<StoredEvent[]>;
  markGet(params: MarkKey & { environmentId: EnvironmentId; functionNo: FunctionNo }): Promise<string | null>;
  /** Of these events, those with a start that is not decided yet. What a debounce or a batch has collected is decided. */
  startsUndecided(params: { environmentId: EnvironmentId; eventIds: readonly EventId[] }): Promise<EventId[]>;
  functionStart(
    params: FunctionStartParams,
  ): Promise<{ applied: boolean; leased: ClaimedEntry[]; refused: FunctionStartChange["refused"] }>;
  /** Examines up to `limit` expired marks and removes those that name no unfinished run and are not needed. Returns how many it examined. */
  markExpireMany(params: MarkExpireParams): Promise<number>;
}
