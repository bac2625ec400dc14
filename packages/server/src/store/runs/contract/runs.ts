/**
 * Runs, their steps, and how they change.
 *
 * Only runAdvance changes a run, in one transaction: the engine reads the state of the run, calls a pure function with it, and writes
 * the result. No decision is based on outdated state. No transaction changes two runs: an event that a run waits for, or the end of a
 * run that it invoked, makes the entry due that then resumes it.
 */

import type {
  EntryNo,
  EnvironmentId,
  EventId,
  FunctionNo,
  JobId,
  LeaseId,
  RunEndStatus,
  RunId,
  RunNo,
  RunStatus,
  StepId,
} from "@inlet/protocol";
import type { NewApproval } from "../../approvals/contract.ts";
import type { EventBatch, NewEvent, StoredEvent } from "../../events/contract.ts";
import type { ClaimedEntry, Lease, LeasedEntry, NewEntry } from "../../queue/contract.ts";
import type { Invoker, NewRun, NewWait } from "./new-runs.ts";
import type { CallRecord, FailedAttempt, RunError, StepRecord, StepWrite } from "./steps.ts";

export { RUN_STATUSES, type RunEndStatus, type RunStatus } from "@inlet/protocol/run-status";

/** Identifies a run: its number is unique in the whole store, the environment says where to look. */
export interface RunKey {
  environmentId: EnvironmentId;
  runNo: RunNo;
}

export interface RunRecord {
  no: RunNo;
  id: RunId;
  environmentId: EnvironmentId;
  functionNo: FunctionNo;
  status: RunStatus;
  lane: string;
  /** The sequence number of the event that started it. */
  eventSequence: number;
  createdAt: number;
  startedAt: number | null;
  endedAt: number | null;
  /** The protocol version of its SDK; -1 until the SDK has responded. */
  requestVersion: number;
  /** Several steps are in progress at once: the SDK plans steps instead of running the steps it finds. */
  isParallel: boolean;
  /** The total size of its step results. */
  stateBytes: number;
  cron: string | null;
  originalRunId: RunId | null;
  /** The job that started it. */
  jobId: JobId | null;
  invoker: Invoker | null;
  /** The text of the key of its position in the order of its function's runs; null: the function has no order, or the event was erased. */
  orderKey: string | null;
}

/** The input of a decision. */
export interface RunState {
  run: RunRecord;
  steps: readonly StepRecord[];
  entries: readonly EntryRecord[];
  /** The events that started it. */
  events(): readonly StoredEvent[];
}

export interface EntryRecord {
  no: EntryNo;
  kind: string;
  stepId: StepId | null;
  attempt: number;
  /** How often it was leased without an outcome. */
  claims: number;
  /** The id of its lease; null if it is not leased. */
  leaseId: LeaseId | null;
  /** Its place among the due calls of its lane: the same for all calls of a run. */
  rank: number;
  /** One more discovery is requested after the one in progress. */
  rediscovers: boolean;
  /** The event that ends the wait of its step, if one arrived, even while the entry is leased because it timed out. */
  eventSequence: number | null;
}

export interface StoredWait extends NewWait {
  runNo: RunNo;
}

export interface RunEnd {
  status: RunEndStatus;
  endedAt: number;
  /** JSON text. */
  output: string | null;
  error: RunError | null;
  /** The event that cancelled it. */
  cancelledBy?: EventId;
}

/** The result of a decision. Every field is optional; an empty change leaves the run as it is. */
export interface RunChange {
  status?: RunStatus;
  startedAt?: number;
  requestVersion?: number;
  isParallel?: boolean;
  steps?: readonly StepWrite[];
  /** What happens to the processed entry. Absent: it is done. */
  entry?: { retryAt: number; attempt: number } | "keep" | "reset-attempt";
  entries?: readonly NewEntry[];
  waits?: readonly NewWait[];
  /** Questions that its steps ask. */
  approvals?: readonly NewApproval[];
  /** Steps whose timers and waits have ended. */
  settled?: readonly StepId[];
  attempts?: readonly FailedAttempt[];
  /** The call that caused this change. */
  call?: CallRecord;
  /** Events that this change emits, with the runs they start. */
  events?: readonly EventBatch[];
  /** The last change of a run. Removes its entries and waits. */
  end?: RunEnd;
  /** With an end: later runs of its order key wait until it is rerun or released. */
  holdsOrder?: boolean;
  /** When it was decided, if that is later than `now` of the params: what follows from it is not older, and due by then. */
  decidedAt?: number;
}

export interface RunAdvanceParams extends RunKey {
  /** The processed entry, which must still be leased; null if the change has another cause. */
  entry: Pick<LeasedEntry, "no" | "leaseId"> | null;
  now: number;
  lease: Lease;
  /** May be called more than once: only the last result counts. */
  decide(state: RunState): RunChange;
}

export interface RunStartParams {
  environmentId: EnvironmentId;
  eventSequence: number;
  run: NewRun;
  now: number;
  lease: Lease;
}

/** A call whose response arrived too late to change the run. */
export interface LateCall extends RunKey {
  call: CallRecord;
  /** The error, if it failed. */
  failure: FailedAttempt | null;
}

export interface RunAdvanceResult {
  /** False if the run has ended, or the entry is no longer leased: nothing was changed. */
  applied: boolean;
  /** Work that is now leased to the caller. */
  leased: ClaimedEntry[];
}

/** The data of its run that a call needs. */
export interface RunContext {
  run: RunRecord;
  events: readonly StoredEvent[];
  /** Completed steps, in the order in which they ended. */
  steps: readonly { id: StepId; value: string }[];
}

/** The rules by which an engine finds the waits that an event ends. Pure functions. */
export interface WaitRules {
  /** The key of the event's value at a path, or null. */
  keyAt(event: NewEvent, path: string): string | null;
  matches(wait: Pick<StoredWait, "expression">, event: NewEvent, runEvent: NewEvent): boolean;
}
