/**
 * The queue: all outstanding work, in lanes.
 *
 * An entry is leased to a node when it is claimed, or when it is created and the node has capacity. Each lease has a unique id, and
 * every operation on the entry names that id: a node that has lost the lease changes nothing. Leases are renewed during work; the
 * entries of a dead node are due again when their leases expire. Work that is due later is in the lane of timers, so that the other
 * lanes contain only work that is due now.
 */

import type { EntryNo, EnvironmentId, FunctionNo, LeaseId, RunId, RunNo, StepId } from "@inlet/protocol";

/** The lane of entries that are due later, and of entries that call no app. */
export const TIMER_LANE = "timers";

/**
 * `call`: the app is called, for the function or for one planned step. `wake`: a sleep is over. `resume`: a wait is over, because
 * it timed out or because the awaited event, run or signal has arrived. `cancel`: the run is to be cancelled. `start-by`, `finish-by`:
 * the run has exceeded a timeout. `start`: a function with rules about its starts is to be started. `cron`: a schedule is due.
 * `gather`: a debounce or a batch is due.
 */
export const ENTRY_KINDS = ["call", "wake", "resume", "cancel", "start-by", "finish-by", "start", "cron", "gather"] as const;
export type EntryKind = (typeof ENTRY_KINDS)[number];

export interface NewEntry {
  kind: EntryKind;
  stepId: StepId | null;
  attempt?: number;
  /** Absent: now. */
  dueAt?: number;
}

/** Identifies an entry: its number is unique in the whole store, the environment says where to look. */
export interface EntryKey {
  environmentId: EnvironmentId;
  no: EntryNo;
}

/** An entry together with a lease. Operations have no effect on an entry that is not, or no longer, leased under this id. */
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
  /** How many of these times its node may have crashed because of it, by phase (queueProbeBegin). */
  probes: Readonly<Record<ProbePhase, number>>;
  /** What the entry refers to, if neither a run nor a step: the cron expression, or the key of a batch or debounce. */
  subject: string | null;
  /** The event of a `start`, the first one of a `gather`; the event that a `resume` waited for, or that caused a `cancel`. */
  eventSequence: number | null;
  /** The run that a `resume` waited for, once that run has ended. */
  endedRunNo: RunNo | null;
  /** The result of a `resume` that waited for a signal, unless it timed out. */
  outcome: WaitOutcome | null;
  /** When its lease expires. */
  leasedUntil: number;
}

/** A wait for a signal: the step gets a value (JSON text), or the run fails because another run waits for the same signal. */
export type WaitOutcome = { value: string } | { fault: { name: string; message: string } };

/** What a node might crash on: starting a call, or processing its response. */
export type ProbePhase = "calling" | "concluding";

export const NO_PROBES: Readonly<Record<ProbePhase, number>> = { calling: 0, concluding: 0 };

export interface QueueDepth {
  environmentId: EnvironmentId;
  /** Calls that are due or in progress. */
  waiting: number;
  /**
   * When the oldest of the next calls in each lane became due, without those whose order key is on hold, which wait for a person; null if
   * nodes hold all of them.
   */
  oldestDueAt: number | null;
}

/** The same for one function of an environment. */
export interface FunctionQueueDepth extends QueueDepth {
  functionNo: FunctionNo;
}

/** The next call of a run. */
export interface QueuedCall {
  lane: string;
  /** Its lane once it is due. */
  homeLane: string;
  dueAt: number;
  /** A node works on it. */
  isLeased: boolean;
  attempt: number;
  /** The run of the same order key that goes before it; its id is null if it has been removed. */
  behind: { runId: RunId | null; isHeld: boolean } | null;
}

/** What an unfinished run waits for before its app is called again. */
export const WAITING_REASONS = [
  "environment_archived",
  "function_paused",
  "key_on_hold",
  "key_busy",
  "app_unreachable",
  "retry",
  "delayed",
  "throttled",
  "limit_full",
  "app_busy",
] as const;

export interface RunWaiting {
  reason: (typeof WAITING_REASONS)[number];
  /** When it is over, if that is known. */
  until: number | null;
  /** The run that holds it up. */
  runId: RunId | null;
}

/** The due time of calls of paused functions: never. They are in the lane of timers, and move to their own lane when the function resumes. */
export const HELD_UNTIL = 8_640_000_000_000_000;

export interface HeldRuns {
  functionNo: FunctionNo;
  runs: number;
}

/** How far a priority, or the job that starts it, moves a run ahead of its time or behind it. */
export const RANK_SHIFT_MAX_MS = 43_200_000;

/** For a store that only one process can use: leases end with the process. */
export const LEASE_WITHOUT_END = Number.MAX_SAFE_INTEGER;

/** What a node offers: the holder of the leases, their expiry, and the capacity per lane. */
export interface Lease {
  node: string;
  until: number;
  /** An id that was never used before, by any node. */
  newId(): LeaseId;
  /** How many more entries of this lane the node can take now without overtaking others. */
  roomIn(lane: string): number;
}

/** At most `cap` slots of a limit are taken at a time, across all lanes and nodes. */
export interface LimitRule {
  id: string;
  cap: number;
}

export interface QueueClaimParams {
  /** The environment of the lane. Absent: it is not known, or the lane is that of the timers of all environments. */
  environmentId?: EnvironmentId | undefined;
  lane: string;
  limit: number;
  now: number;
  lease: Lease;
  /** Each claimed entry takes a slot of every one of these limits, until it is done or released. */
  limits: readonly LimitRule[];
}

export interface QueueClaimResult {
  claimed: ClaimedEntry[];
  /** More entries were due. */
  more: boolean;
  /** Limits without a free slot: nothing more can be claimed until one of them is announced (limitWatch). */
  fullLimits: string[];
}

export interface QueueStore {
  /**
   * Leases up to `limit` due entries of a lane, lowest rank first, and no more than there are slots. A call in the lane of timers
   * moves to its own lane, and is leased only if that lane has capacity. An entry whose lease has expired holds no slot.
   */
  queueClaimMany(params: QueueClaimParams): Promise<QueueClaimResult>;
  /** Renews leases. Returns the ones that are still held. */
  queueRenew(params: { entries: readonly LeasedEntry[]; until: number }): Promise<Set<LeaseId>>;
  /**
   * Releases entries whose work is unfinished because the node stops: they are due at once, for any node, and this claim does not
   * count.
   */
  queueRelease(params: { entries: readonly LeasedEntry[]; now: number }): Promise<void>;
  /** Makes the entries due again that the node held before it died; called before anything is claimed. */
  queueRecover(params: { node: string; now: number }): Promise<void>;
  /** Every environment with calls that are due or in progress. A lane belongs to one environment, so lanes are counted. */
  queueDepths(): Promise<QueueDepth[]>;
  /** Every function with calls that are due or in progress. Scans all of them: call it rarely. */
  queueFunctionDepths(): Promise<FunctionQueueDepth[]>;
  /** Lanes that contain work. */
  queueLanes(): Promise<string[]>;
  /** Counts a probe before it begins, for work that may crash its node. */
  queueProbeBegin(params: LeasedEntry & { phase: ProbePhase }): Promise<void>;
  /** The node survived: resets all probes of this phase. */
  queueProbeClear(params: LeasedEntry & { phase: ProbePhase }): Promise<void>;
  /** When the next timer is due, or null. */
  queueNextDue(): Promise<number | null>;
  queueRemove(params: LeasedEntry): Promise<void>;
  /** Releases the entry, which is due again at this time; its number of claims is kept. */
  queueReschedule(params: LeasedEntry & { dueAt: number }): Promise<void>;
  /** The call is held until its function resumes; if the function has resumed already, or the run has ended, the call is due at once. */
  queueHold(params: LeasedEntry & { runNo: RunNo; functionNo: FunctionNo; now: number }): Promise<void>;
  /** Releases the call to another lane, where the calls of its run wait from now on. It is due at once, and this claim does not count. */
  queueMove(params: LeasedEntry & { runNo: RunNo; lane: string; now: number }): Promise<void>;
  /** Calls in progress take slots of limits that were set after they were claimed, whether or not there is a free one. */
  queueTakeSlots(params: { calls: readonly (LeasedEntry & { limits: readonly LimitRule[] })[] }): Promise<void>;
  /** Makes at most `limit` held calls due whose function is not paused. Returns how many. */
  queueUnhold(params: { now: number; limit: number }): Promise<number>;
  /** For each function, how many runs have a held call. */
  /** The next call of a run; null if it has none. */
  queueCallOf(params: { environmentId: EnvironmentId; runNo: RunNo }): Promise<QueuedCall | null>;
  queueHeld(params: { environmentId: EnvironmentId }): Promise<HeldRuns[]>;
  queueHeldRuns(params: { environmentId: EnvironmentId; functionNo: FunctionNo; limit: number }): Promise<RunNo[]>;
  /** Calls `listener` when unleased entries were added: calls in a lane without capacity, and timers. Returns a function that stops it. */
  queueWatch(listener: QueueListener): () => void;
  /** Calls `listener` when slots of these limits may have become free, on any node. Returns a function that stops it. */
  limitWatch(listener: (ids: readonly string[]) => void): () => void;
}

/** `databaseNo`: where the entries are; absent: the store has one database. */
export type QueueListener = (lane: string, dueAt: number, databaseNo?: number) => void;
