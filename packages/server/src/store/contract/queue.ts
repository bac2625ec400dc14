/**
 * The queue: every piece of work that is still to be done, in lanes.
 *
 * An entry is leased to a node when it is claimed, or when it is created with room for it. The lease has an id of its own, and
 * whatever is done with the entry names that id: who has lost the lease changes nothing. Leases are renewed while work goes on; what
 * a dead node held is due again when its lease is over. Work that is due later stands in the lane of timers, so that the other
 * lanes hold only what could be done now.
 */

import type { EntryNo, EnvironmentId, FunctionNo, LeaseId, RunNo, StepId } from "@inlet/protocol";

/** Where entries stand that are due later, and those that call no app. */
export const TIMER_LANE = "timers";

/**
 * `call`: the app is called, for the function or for one planned step. `wake`: a sleep is over. `timeout`: a wait is over, because
 * its time is, or because what it waited for has come. `cancel`: the run is to be cancelled. `start-by`, `finish-by`: the run has
 * taken too long. `start`: a function with rules of its own is to be started. `cron`: a schedule is due. `gather`: a debounce or a
 * batch is due.
 */
export const ENTRY_KINDS = ["call", "wake", "timeout", "cancel", "start-by", "finish-by", "start", "cron", "gather"] as const;
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

/** An entry in the name of one lease. Nothing happens to an entry that is not, or no longer, leased under this id. */
export interface LeasedEntry extends EntryKey {
  leaseId: LeaseId;
}

export interface ClaimedEntry extends LeasedEntry {
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
  /** How often it was leased without an outcome. */
  claims: number;
  /** How often of these its node may have died of it, by what it was doing (queueTry). */
  trials: Readonly<Record<TrialPhase, number>>;
  /** What the entry is about, where it is neither a run nor a step: the cron text, the key of a gathering. */
  subject: string | null;
  /** The event of a `start`, the first one of a `gather`; the event that a `timeout` waited for, or that caused a `cancel`. */
  eventSequence: number | null;
  /** The run that a `timeout` waited for, once it has ended. */
  endedRunNo: RunNo | null;
  /** What became of a `timeout` that waited for a signal, unless its time is over. */
  outcome: WaitOutcome | null;
  /** Until when it is leased. */
  leasedUntil: number;
}

/** A wait for a signal: the step is given a value (JSON text), or the run fails, because another one waits for the same signal. */
export type WaitOutcome = { value: string } | { fault: { name: string; message: string } };

/** What a node might die of: beginning a call, or dealing with what came back. */
export type TrialPhase = "calling" | "concluding";

export const NO_TRIALS: Readonly<Record<TrialPhase, number>> = { calling: 0, concluding: 0 };

export interface QueueDepth {
  environmentId: EnvironmentId;
  /** Calls that are due or under way. */
  waiting: number;
  /** When the oldest became due of those that are next in their lanes; null when nodes hold all of them. */
  oldestDueAt: number | null;
}

/** The same for one function of an environment. */
export interface FunctionQueueDepth extends QueueDepth {
  functionNo: FunctionNo;
}

/** When calls of paused functions are due: never. They stand among the timers, and go to their own lane when the function goes on. */
export const HELD_UNTIL = 8_640_000_000_000_000;

export interface HeldRuns {
  functionNo: FunctionNo;
  runs: number;
}

/** For a store that only one process can use: its leases end with it. */
export const LEASE_WITHOUT_END = Number.MAX_SAFE_INTEGER;

/** What a node offers: to whom entries are leased, until when, and how many of a lane. */
export interface Lease {
  node: string;
  until: number;
  /** An id that was never given before, by any node. */
  newId(): LeaseId;
  /** How many more entries of this lane the node takes now, without any of them overtaking others. */
  roomIn(lane: string): number;
}

/** No more than `cap` slots of a limit are taken at a time, by whichever lanes and nodes. */
export interface LimitRule {
  id: string;
  cap: number;
}

export interface QueueClaimParams {
  lane: string;
  limit: number;
  now: number;
  lease: Lease;
  /** Each entry claimed takes a slot of every one of these, until it is done or let go. */
  limits: readonly LimitRule[];
}

export interface QueueClaimResult {
  claimed: ClaimedEntry[];
  /** Others were due as well. */
  more: boolean;
  /** Limits without a free slot: nothing more can be claimed before one of these is announced (limitWatch). */
  fullLimits: string[];
}

export interface QueueStore {
  /**
   * Leases up to `limit` entries of a lane that are due, lowest rank first, and not more than there are slots. A call that stood
   * among the timers goes to its own lane, and is leased only if there is room in it. An entry whose lease is over holds no slot.
   */
  queueClaimMany(params: QueueClaimParams): Promise<QueueClaimResult>;
  /** Prolongs leases. Says which of them are still held. */
  queueRenew(params: { entries: readonly LeasedEntry[]; until: number }): Promise<Set<LeaseId>>;
  /**
   * Lets go of what was not worked on to its end, because the node stops: it is due at once, for any node, and does not count as
   * claimed.
   */
  queueRelease(params: { entries: readonly LeasedEntry[]; now: number }): Promise<void>;
  /** Makes due again what the node held before it died; called before anything is claimed. */
  queueRecover(params: { node: string; now: number }): Promise<void>;
  /** Every environment with calls that are due or under way. A lane is of one environment: lanes are what is counted. */
  queueDepths(): Promise<QueueDepth[]>;
  /** Every function with calls that are due or under way. Looks at every one of them: ask rarely. */
  queueFunctionDepths(): Promise<FunctionQueueDepth[]>;
  /** Lanes that hold work. */
  queueLanes(): Promise<string[]>;
  /** Counts a trial before it begins, for work that its node may die of. */
  queueTry(params: LeasedEntry & { phase: TrialPhase }): Promise<void>;
  /** The node lives: all trials of this phase are forgotten. */
  queueAcquit(params: LeasedEntry & { phase: TrialPhase }): Promise<void>;
  /** When the next timer is due, or null. */
  queueNextDue(): Promise<number | null>;
  queueRemove(params: LeasedEntry): Promise<void>;
  /** The entry is let go, and due again at this time; how often it was claimed is kept. */
  queueReschedule(params: LeasedEntry & { dueAt: number }): Promise<void>;
  /** The call is held until its function goes on; if it does already, it is due at once. */
  queueHold(params: LeasedEntry & { functionNo: FunctionNo; now: number }): Promise<void>;
  /** Makes calls due that are held although their function is not paused, at most `limit`; says how many. */
  queueUnhold(params: { now: number; limit: number }): Promise<number>;
  /** By function, how many runs have a call that is held. */
  queueHeld(params: { environmentId: EnvironmentId }): Promise<HeldRuns[]>;
  queueHeldRuns(params: { environmentId: EnvironmentId; functionNo: FunctionNo; limit: number }): Promise<RunNo[]>;
  /**
   * Looks at up to `limit` lanes after a cursor, and forgets those that no entry needs any more. `reached` is where to go on;
   * null when there are no others. Lanes are as many as the values of the users' concurrency keys.
   */
  queueLaneForgetMany(params: { after: number; limit: number }): Promise<{ forgotten: number; reached: number | null }>;
  /** Calls `listener` when entries were added that nobody holds: calls in a lane that has no room, and timers. Returns how to stop it. */
  queueWatch(listener: QueueListener): () => void;
  /** Calls `listener` when slots of these limits may have become free, whichever node freed them. Returns how to stop it. */
  limitWatch(listener: (ids: readonly string[]) => void): () => void;
}

export type QueueListener = (lane: string, dueAt: number) => void;
