/**
 * Runs, their steps, and how they change.
 *
 * Only runAdvance changes a run, in one transaction: the engine reads the state of the run, calls a pure function with it, and writes
 * the result. No decision is based on outdated state. No transaction changes two runs: an event that a run waits for, or the end of a
 * run that it invoked, makes the entry due that then resumes it.
 */

import type { EntryNo, EnvironmentId, EventId, FunctionNo, JobId, LeaseId, RunId, RunNo, StepId } from "@inlet/protocol";
import type { NewApproval } from "../../approvals/contract.ts";
import type { EventBatch, NewEvent, StoredEvent } from "../../events/contract.ts";
import type { ClaimedEntry, Lease, LeasedEntry, NewEntry } from "../../queue/contract.ts";
import type { Invoker, NewRun, NewWait } from "./new-runs.ts";
import type { CallRecord, FailedAttempt, RunError, StepRecord, StepRequest, StepWrite } from "./steps.ts";

export const RUN_STATUSES = ["queued", "running", "sleeping", "waiting", "completed", "failed", "cancelled"] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];
export type RunEndStatus = "completed" | "failed" | "cancelled";

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

/** What an event did to a run. An event that invoked a function started its run. */
export const EVENT_RELATIONS = ["started", "resumed", "cancelled"] as const;
export type EventRelation = (typeof EVENT_RELATIONS)[number];

export interface RunListParams {
  environmentId: EnvironmentId;
  limit: number;
  /** Continue after this run. */
  after?: RunId;
  status?: RunStatus;
  functionNos?: readonly FunctionNo[];
  from?: number;
  to?: number;
  /** Runs that this event started, alone or in a batch; or those to which it has another relation. */
  eventId?: EventId;
  eventRelation?: EventRelation;
  /** Runs that this job started. */
  jobId?: JobId;
  /** These runs, as far as they exist. */
  ids?: readonly RunId[];
  /** False: runs that were not repeated since. True: those that were. */
  rerun?: boolean;
  /** Text in the error's name or message; ignores case. */
  errorText?: string;
  /** Failed runs whose error has this pattern. */
  errorPattern?: string;
  /** An expression over the payload of the event that started it. Throws if it does not compile: check it first. */
  where?: string;
}

/** A run as shown in lists. */
export interface RunSummary extends RunRecord {
  /** `preview` is the beginning of its data. */
  event: { id: EventId; name: string; preview: string } | null;
  /** The `traceparent` kept with the event. */
  trace: string | null;
  /** The events of a batch, by sequence number; null: the one event that started it. */
  eventSequences: readonly number[] | null;
  error: RunError | null;
  /** The most failed attempts of one of its steps, or of the function itself: what is told of a step's failure fails with it, once. */
  failedAttempts: number;
}

export type RunCounts = Partial<Record<RunStatus, number>>;

export interface EventRunCounts {
  eventId: EventId;
  counts: RunCounts;
}

export interface FailureListParams {
  environmentId: EnvironmentId;
  limit: number;
  /** Created at or after `from`, and before `to`. */
  from: number;
  to?: number;
  /** The end of the trend. */
  until: number;
  functionNos?: readonly FunctionNo[];
}

export const FAILURE_TREND_PARTS = 24;

/** Failed runs of one function whose errors have the same pattern. */
export interface FailureGroup {
  functionNo: FunctionNo;
  /** Of the newest of them. */
  name: string;
  message: string;
  pattern: string;
  /** Those that were not repeated since. */
  count: number;
  /** Those that were. */
  rerunCount: number;
  /** How many failed in each of `FAILURE_TREND_PARTS` equal parts of the time from `from` to `until`. */
  trend: readonly number[];
  /** When the first and the last of them failed. */
  firstAt: number;
  lastAt: number;
  /** Some of them, the newest first. */
  runIds: readonly RunId[];
}

export interface RunDetails extends RunSummary {
  /** The last run that repeats it. */
  rerun: { id: RunId; status: RunStatus } | null;
  /** The run that invoked it; null: none did, or it has been removed. */
  invokedBy: RunId | null;
  /** The event that cancelled it; it may have been removed. */
  cancelledBy: EventId | null;
  output: string | null;
  steps: readonly (StepRecord & { value: string | null })[];
  attempts: readonly FailedAttempt[];
  /** In the order in which they ended. */
  calls: readonly (Omit<CallRecord, "stepsGiven"> & { stepsGiven: readonly StepId[] })[];
}

export interface RunTimingsParams {
  environmentId: EnvironmentId;
  functionNos: readonly FunctionNo[];
  /** Created at or after. */
  from: number;
  /** Created before. */
  to: number;
  limit: number;
}

export interface RunTiming {
  status: RunStatus;
  createdAt: number;
  startedAt: number | null;
  endedAt: number | null;
}

export interface RunEndCountParams {
  environmentId: EnvironmentId;
  functionNo: FunctionNo;
  status: "completed" | "failed";
  /** Ended at or after. */
  since: number;
  limit: number;
}

export interface RunStore {
  /** Starts a run for an event that is already stored. `isStarted` is false, without effect, if the event has been removed. */
  runStart(params: RunStartParams): Promise<{ isStarted: boolean; leased: ClaimedEntry[] }>;
  runAdvance(params: RunAdvanceParams): Promise<RunAdvanceResult>;
  /** Stores a call for which runAdvance reported that nothing was changed. A call that is already stored is not stored again. */
  runNoteCall(params: LateCall): Promise<void>;
  /** Null if the run has ended. */
  runContext(params: RunKey): Promise<RunContext | null>;
  /** Null if the step is not a request that the service makes, or if the step or its run has ended. */
  stepRequest(params: RunKey & { stepId: StepId }): Promise<StepRequest | null>;
  /** How a run ended; null if it has not, or no longer exists. */
  runEnd(params: RunKey): Promise<RunEnd | null>;
  /** The run with this id; without `environmentId` in any environment: ids are unique, and SDKs name none. */
  runFind(params: { id: RunId; environmentId?: EnvironmentId }): Promise<RunRecord | null>;
  runGet(params: { environmentId: EnvironmentId; id: RunId }): Promise<RunDetails | null>;
  /** The runs that exist, in no particular order. */
  runSummaries(params: { environmentId: EnvironmentId; runNos: readonly RunNo[] }): Promise<RunSummary[]>;
  /** Calls `listener` soon after any node created or changed runs. Returns a function that stops it. */
  runWatch(listener: (runNos: readonly RunNo[]) => void): () => void;
  /** Most frequent first. */
  runFailures(params: FailureListParams): Promise<FailureGroup[]>;
  /** Newest first. With `errorText`, `errorPattern` or `where`, a page may stop early with few or no runs and a cursor to continue from. */
  runList(params: RunListParams): Promise<{ runs: RunSummary[]; next: RunId | null }>;
  /** When runs of functions were created, started and ended: the newest `limit` of them, in no particular order. */
  runTimings(params: RunTimingsParams): Promise<RunTiming[]>;
  /** How many runs of a function ended with a status: of those with that status, the `limit` created last are looked at. */
  runEndCount(params: RunEndCountParams): Promise<number>;
  /** How many unfinished steps wait for an event of this name, by function. At most `limit` waits are counted. */
  waitCountByFunction(params: {
    environmentId: EnvironmentId;
    eventName: string;
    limit: number;
  }): Promise<{ functionNo: FunctionNo; waits: number }[]>;
  /** How many runs a job started, by status. */
  runCountByJob(params: { environmentId: EnvironmentId; jobId: JobId }): Promise<RunCounts>;
  /** How many runs each event started, alone or in a batch, by status. Events without runs are left out. */
  runCountByEvent(params: { environmentId: EnvironmentId; eventIds: readonly EventId[] }): Promise<EventRunCounts[]>;
}
