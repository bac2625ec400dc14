/**
 * Starting functions that have rules about it: rate limits, throttles, debounces, batches, singletons.
 *
 * What such rules remember are marks, by function, kind and key. An entry of the queue stands for the event that asks for a
 * start; working on it reads the marks, decides, and writes the marks and the run, if there is one, in one transaction.
 */

import type { EnvironmentId, FunctionNo, RunNo } from "@inlet/protocol";
import type { EventBatch, StoredEvent } from "./events.ts";
import type { Invoker, NewRun } from "./new-runs.ts";
import type { ClaimedEntry, Lease, LeasedEntry } from "./queue.ts";

export interface MarkKey {
  kind: "rate" | "throttle" | "debounce" | "batch" | "singleton";
  key: string;
}

export interface MarkWrite extends MarkKey {
  /** Null forgets it. */
  value: string | null;
  /** When it may be forgotten. */
  expiresAt: number;
}

export interface FunctionStartState {
  /** The values of the marks asked for, in order; null where there is none. */
  marks: readonly (string | null)[];
  /** Events by their sequence; those that are gone are left out. */
  events(sequences: readonly number[]): StoredEvent[];
  /** Whether a run goes on that one of the singleton's marks asked for names. */
  isActive(runNo: RunNo): boolean;
}

export interface FunctionStartChange {
  marks?: readonly MarkWrite[];
  /** The run to be started, with the event it is written for. */
  run?: { run: NewRun; event: StoredEvent };
  /** A singleton's mark that is to hold the number of the run started. */
  holdMark?: MarkKey;
  /** The step that invoked the function, if no run is started for it: the caller notifies it and then removes the entry. */
  refused?: { invoker: Invoker; value: string };
  /** Runs that give way: an entry cancels each. */
  cancels?: readonly RunNo[];
  /** The gathering under this key is due at this time; an entry for it that exists is moved. Events from `since` on are kept for it. */
  gather?: { key: string; dueAt: number; since: number };
  /** Events to be stored, with the runs they start: a schedule's tick. */
  events?: readonly EventBatch[];
  /** The entry worked on is due again at this time. Absent: it is done. */
  againAt?: number;
}

export interface FunctionStartParams {
  environmentId: EnvironmentId;
  entry: Pick<LeasedEntry, "no" | "leaseId">;
  functionNo: FunctionNo;
  marks: readonly MarkKey[];
  now: number;
  lease: Lease;
  /** The events that `decide` asks for, which follow from the values of the marks. Absent: none. */
  eventsNeeded?(marks: readonly (string | null)[]): readonly number[];
  decide(state: FunctionStartState): FunctionStartChange;
}

export interface FunctionStartStore {
  /** The event a `start` entry is about; null when it is gone. */
  eventAt(params: { environmentId: EnvironmentId; sequence: number }): Promise<StoredEvent | null>;
  /** Those that exist, in no particular order. */
  eventsAt(params: { environmentId: EnvironmentId; sequences: readonly number[] }): Promise<StoredEvent[]>;
  markGet(params: MarkKey & { environmentId: EnvironmentId; functionNo: FunctionNo }): Promise<string | null>;
  functionStart(
    params: FunctionStartParams,
  ): Promise<{ applied: boolean; leased: ClaimedEntry[]; refused: FunctionStartChange["refused"] }>;
  /** Looks at up to `limit` marks that may be forgotten, and removes them unless they name a run that goes on; says how many it looked at. */
  markExpireMany(params: { until: number; limit: number }): Promise<number>;
}
