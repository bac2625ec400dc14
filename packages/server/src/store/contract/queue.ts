/**
 * The queue: every piece of work that is still to be done, in lanes.
 *
 * An entry is held by a node from the moment it is claimed (or handed over at its creation) until its lease ends; leases are
 * renewed while work goes on, and what a dead node held is due again when its lease is over. Work that is due later stands in
 * the lane of timers, so that the other lanes hold only what could be done now.
 */

import type { EntryNo, EnvironmentId, FunctionNo, RunNo, StepId } from "@inlet/protocol";

/** Where entries stand that are due later, and those that call no app. */
export const TIMER_LANE = "timers";

/**
 * `call`: the app is called, for the function or for one planned step. `wake`: a sleep is over. `timeout`: a wait is over.
 * `start-by`, `finish-by`: the run has taken too long. `start`: a function with rules of its own is to be started. `cron`: a
 * schedule is due. `gather`: a debounce or a batch is due.
 */
export const ENTRY_KINDS = ["call", "wake", "timeout", "start-by", "finish-by", "start", "cron", "gather"] as const;
export type EntryKind = (typeof ENTRY_KINDS)[number];

export interface NewEntry {
  kind: EntryKind;
  stepId: StepId | null;
  attempt?: number;
  /** Absent: now. */
  dueAt?: number;
}

/** What an entry is found by: its number is its own in the whole store, the environment says where to look. */
export interface EntryKey {
  environmentId: EnvironmentId;
  no: EntryNo;
}

export interface ClaimedEntry extends EntryKey {
  kind: EntryKind;
  lane: string;
  rank: number;
  /** When it became due. */
  dueAt: number;
  /** Null for work that belongs to no run. */
  runNo: RunNo | null;
  functionNo: FunctionNo;
  stepId: StepId | null;
  attempt: number;
  /** How often it was taken up without an outcome. */
  claims: number;
  /** How often of these it was suspected to take its node down, and watched (queueTry). */
  trials: number;
  /** What the entry is about, where it is neither a run nor a step: the cron text, the key of a gathering. */
  subject: string | null;
  /** The event of a `start` entry; the first one of a `gather` entry. */
  eventSequence: number | null;
}

export interface QueueDepth {
  environmentId: EnvironmentId;
  /** Calls that are due or under way. */
  waiting: number;
  /** When the oldest became due of those that are next in their lanes; null when nodes hold all of them. */
  oldestDueAt: number | null;
}

/** Who holds what is handed over, until when, and how much it takes of a lane. */
export interface Lease {
  node: string;
  until: number;
  /** How many more entries of this lane the node takes now, without any of them overtaking others. */
  roomIn(lane: string): number;
}

export interface QueueStore {
  /**
   * Takes up to `limit` entries of a lane that are due, lowest rank first. A call that stood among the timers goes to its own
   * lane, and is taken only if there is room in it. `more` says that others were due as well. What the node holds already is
   * never given to it again, even if it could not renew its lease in time: it is being worked on.
   */
  queueClaimMany(params: { lane: string; limit: number; now: number; lease: Lease }): Promise<{ claimed: ClaimedEntry[]; more: boolean }>;
  /**
   * Prolongs what the node holds; together with `others`, whose leases are young, it is all of it. What the store holds in its name beside
   * them, because the answer to a claim was lost, is due again once its lease is over.
   */
  queueRenew(params: { entries: readonly EntryKey[]; others?: readonly EntryKey[]; node: string; until: number }): Promise<void>;
  /**
   * Lets go of what the node holds and did not work on to its end, because it stops: it is due at once, for any node, and
   * does not count as taken up.
   */
  queueRelease(params: { entries: readonly EntryKey[]; node: string; now: number }): Promise<void>;
  /** Makes due again what the node held before it died; called before anything is claimed. */
  queueRecover(params: { node: string; now: number }): Promise<void>;
  /** Every environment with calls that are due or under way. A lane is of one environment: lanes are what is counted. */
  queueDepths(): Promise<QueueDepth[]>;
  /** Lanes that hold work. */
  queueLanes(): Promise<string[]>;
  /** Counts a trial before it begins, for work that may take its node down. Nothing happens unless the node holds the entry. */
  queueTry(params: EntryKey & { node: string }): Promise<void>;
  /** When the next timer is due, or null. */
  queueNextDue(): Promise<number | null>;
  /** Nothing happens unless the node holds the entry. */
  queueRemove(params: EntryKey & { node: string }): Promise<void>;
  /** The entry is let go, and due again at this time; how often it was taken up is kept. Nothing happens unless the node holds it. */
  queueReschedule(params: EntryKey & { node: string; dueAt: number }): Promise<void>;
  /**
   * Looks at up to `limit` lanes after a place, and forgets those that no entry needs any more. `reached` is where to go on;
   * null when there are no others. Lanes are as many as the values of the users' concurrency keys.
   */
  queueLaneForgetMany(params: { after: number; limit: number }): Promise<{ forgotten: number; reached: number | null }>;
  /**
   * Keeps limits for the node until then, or prolongs that; says whether it has all of them. While it has, no other node can
   * have one of them.
   */
  queueLimitHold(params: { ids: readonly string[]; node: string; now: number; until: number }): Promise<boolean>;
  queueLimitRelease(params: { ids: readonly string[]; node: string }): Promise<void>;
  /** Calls `listener` when entries were added that nobody holds: calls in a lane that has no room, and timers. Returns how to stop it. */
  queueWatch(listener: QueueListener): () => void;
}

export type QueueListener = (lane: string, dueAt: number) => void;
