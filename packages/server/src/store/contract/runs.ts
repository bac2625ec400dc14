/**
 * Runs, their steps, and how they change.
 *
 * A run is only ever changed by runAdvance, in one transaction: the engine reads the run's state, asks a pure function what follows
 * from it, and writes that. Nothing is decided on state that may be out of date. No transaction changes two runs: an event that a
 * run waits for, or the end of a run that it invoked, makes the entry due that then resumes it.
 */

import type { EntryNo, EnvironmentId, EventId, FunctionNo, GatewayRequest, JobId, LeaseId, RunId, RunNo, StepId } from "@inlet/protocol";
import type { EventBatch, NewEvent, StoredEvent } from "./events.ts";
import type { Invoker, NewRun, NewWait } from "./new-runs.ts";
import type { ClaimedEntry, Lease, LeasedEntry, NewEntry } from "./queue.ts";
import type { StepKind, StepStatus } from "./steps.ts";

export const RUN_STATUSES = ["queued", "running", "sleeping", "waiting", "completed", "failed", "cancelled"] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];
export type RunEndStatus = "completed" | "failed" | "cancelled";

/**
 * `send` is a step that sends events, `wait` one that waits for an event, `signal` one that waits for a signal. `fetch` and `infer` are
 * requests that the service makes, `wrap` is the call of an AI library, `defer` a function that is started
 * when the run has ended.
 */

/** What a run is found by: its number is its own in the whole store, the environment says where to look. */
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
  /** Empty for a run that has ended when its lane is forgotten. */
  lane: string;
  /** The event that started it: its sequence in the store. */
  eventSequence: number;
  createdAt: number;
  startedAt: number | null;
  endedAt: number | null;
  /** The protocol version its SDK answers with; -1 until it has. */
  requestVersion: number;
  /** Several steps are under way at once: the SDK is to plan steps, not to run what it finds. */
  isParallel: boolean;
  /** What its steps hold together. */
  stateBytes: number;
  cron: string | null;
  originalRunId: RunId | null;
  /** The job that started it. */
  jobId: JobId | null;
  invoker: Invoker | null;
  /** By which it has a position in the order of its function's runs; null: its function has none. */
  orderKey: string | null;
}

export interface StepRecord {
  id: StepId;
  kind: StepKind;
  name: string;
  status: StepStatus;
  /** When it was found, among the run's steps. */
  position: number;
  /** When it ended, among the run's steps: a call that was given n results was given those below n. Null while it is open. */
  donePosition: number | null;
  startedAt: number;
  endedAt: number | null;
  attempts: number;
  until: number | null;
  /** The event or signal waited for, the id of the run invoked, or a request as JSON (protocol/gateway-request.ts). */
  detail: string | null;
}

/** What a decision is made on. */
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
  /** Under which it is held; null when it is not. */
  leaseId: LeaseId | null;
  /** One more discovery is asked for after the one under way. */
  goesAgain: boolean;
}

export interface StepWrite extends Omit<StepRecord, "position" | "donePosition"> {
  /** JSON text as the SDK is given it; absent while the step is open. */
  value?: string;
}

export interface StoredWait extends NewWait {
  runNo: RunNo;
}

export interface RunError {
  name: string;
  message: string;
  stack?: string;
}

/** A failure of a step, or of the function itself. */
export interface FailedAttempt {
  stepId: StepId | null;
  attempt: number;
  startedAt: number;
  endedAt: number;
  httpStatus: number | null;
  error: RunError;
}

/** One call of the app for a run, whatever came of it. What was sent is not kept again: event and steps are there. */
export interface CallRecord {
  /** The planned step it was for; null: the function itself. */
  stepId: StepId | null;
  attempt: number;
  startedAt: number;
  endedAt: number;
  /** Null when there was no answer. */
  httpStatus: number | null;
  /** `error`: it left a failed attempt behind, or failed the run. */
  outcome: "ok" | "error";
  /** Of the address called, with its query. */
  path: string;
  /** How many results of steps it was given: of those that were done first. */
  stepsGiven: number;
  /** How the answer's body begins; null when there was no answer. */
  answer: string | null;
  /** Of the whole body, in UTF-16 units. */
  answerLength: number;
}

export interface RunEnd {
  status: RunEndStatus;
  endedAt: number;
  /** JSON text. */
  output: string | null;
  error: RunError | null;
}

/** What follows from a decision. Everything is optional; nothing at all leaves the run as it is. */
export interface RunChange {
  status?: RunStatus;
  startedAt?: number;
  requestVersion?: number;
  isParallel?: boolean;
  steps?: readonly StepWrite[];
  /** What becomes of the entry that was worked on. Absent: it is done. */
  entry?: { retryAt: number; attempt: number } | "keep" | "reset-attempt";
  entries?: readonly NewEntry[];
  waits?: readonly NewWait[];
  /** Steps whose timers and waits are over. */
  settled?: readonly StepId[];
  attempts?: readonly FailedAttempt[];
  /** The call this follows from. */
  call?: CallRecord;
  /** Events this change gives rise to, with the runs they start. */
  events?: readonly EventBatch[];
  /** The last change of a run. Its entries and waits go with it. */
  end?: RunEnd;
  /** With an end: later runs of its order key wait until it is rerun or released. */
  holdsOrder?: boolean;
}

export interface RunAdvanceParams extends RunKey {
  /** The entry that was worked on, and must still be held; null when the change comes from elsewhere. */
  entry: Pick<LeasedEntry, "no" | "leaseId"> | null;
  now: number;
  lease: Lease;
  decide(state: RunState): RunChange;
}

export interface RunStartParams {
  environmentId: EnvironmentId;
  eventSequence: number;
  run: NewRun;
  now: number;
  lease: Lease;
}

/** A call whose answer came when nothing could follow from it any more. */
export interface LateCall extends RunKey {
  call: CallRecord;
  /** Why, when it failed. */
  failure: FailedAttempt | null;
}

export interface RunAdvanceResult {
  /** False when the run has ended, or the entry is no longer held: nothing was changed. */
  applied: boolean;
  /** Work that is now held by the caller. */
  leased: ClaimedEntry[];
}

/** What a call needs to know of its run. */
export interface RunContext {
  run: RunRecord;
  events: readonly StoredEvent[];
  /** Steps that are done, in the order they were. */
  steps: readonly { id: StepId; value: string }[];
}

/** By which rules an engine finds the waits that an event ends. Pure functions. */
export interface WaitRules {
  /** The key of the event's value at a path, or null. */
  keyAt(event: NewEvent, path: string): string | null;
  matches(wait: Pick<StoredWait, "expression">, event: NewEvent, runEvent: NewEvent): boolean;
}

/** The request that an open step is. */
export interface StepRequest {
  kind: StepKind;
  request: GatewayRequest;
}

export interface RunListParams {
  environmentId: EnvironmentId;
  limit: number;
  /** Continue after this run. */
  after?: RunId;
  status?: RunStatus;
  functionNos?: readonly FunctionNo[];
  from?: number;
  to?: number;
  /** Runs that this event started, alone or in a batch. */
  eventId?: EventId;
  /** Runs that this job started. */
  jobId?: JobId;
  /** A piece of the error's name or message, in any case. */
  errorText?: string;
  /** An expression over the payload of the event that started it. One that does not compile throws: check it before. */
  where?: string;
}

/** A run as lists show it. */
export interface RunSummary extends RunRecord {
  /** `preview` is how its data begins. */
  event: { id: EventId; name: string; preview: string } | null;
  /** The `traceparent` kept with the event. */
  trace: string | null;
  /** The events of a batch, by their sequence in the store; null: the one event that started it. */
  eventSequences: readonly number[] | null;
  error: RunError | null;
  failedAttempts: number;
}

export interface EventRunCounts {
  eventId: EventId;
  counts: Partial<Record<RunStatus, number>>;
}

export interface FailureListParams {
  environmentId: EnvironmentId;
  limit: number;
  /** Created at or after, and before. */
  from?: number;
  to?: number;
  functionNos?: readonly FunctionNo[];
}

/** Failed runs of one function with the same error. */
export interface FailureGroup {
  functionNo: FunctionNo;
  name: string;
  message: string;
  count: number;
  /** When the first and the last of them failed. */
  firstAt: number;
  lastAt: number;
  /** Some of them, the newest first. */
  runIds: readonly RunId[];
}

export interface RunDetails extends RunSummary {
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

export interface RunStore {
  /** Starts a run for an event that is there already. */
  runStart(params: RunStartParams): Promise<{ leased: ClaimedEntry[] }>;
  runAdvance(params: RunAdvanceParams): Promise<RunAdvanceResult>;
  /** Keeps a call of which runAdvance said that nothing was changed. A call that is kept already is not kept again. */
  runNoteCall(params: LateCall): Promise<void>;
  /** Null when the run has ended. */
  runContext(params: RunKey): Promise<RunContext | null>;
  /** Null when the step is none that the service makes a request for, or has ended. */
  stepRequest(params: RunKey & { stepId: StepId }): Promise<StepRequest | null>;
  /** How a run ended; null when it has not, or is gone. */
  runEnd(params: RunKey): Promise<RunEnd | null>;
  /** The run with this id in any environment: ids are unique, and SDKs name no environment. */
  runFind(params: { id: RunId }): Promise<RunRecord | null>;
  runGet(params: { environmentId: EnvironmentId; id: RunId }): Promise<RunDetails | null>;
  /** Those that exist, in no particular order. */
  runSummaries(params: { environmentId: EnvironmentId; runNos: readonly RunNo[] }): Promise<RunSummary[]>;
  /** Calls `listener` soon after runs were created or changed, by any node. Returns how to stop it. */
  runWatch(listener: (runNos: readonly RunNo[]) => void): () => void;
  /** The most frequent first. */
  runFailures(params: FailureListParams): Promise<FailureGroup[]>;
  /** Newest first. With `errorText` or `where` a page may stop early with few runs, or none, and a place to go on from. */
  runList(params: RunListParams): Promise<{ runs: RunSummary[]; next: RunId | null }>;
  /** When runs of functions were created, started and ended: the newest `limit` of them, in no particular order. */
  runTimings(params: RunTimingsParams): Promise<RunTiming[]>;
  /** How many unfinished steps wait for an event of this name, by function. At most `limit` waits are counted. */
  waitCountByFunction(params: {
    environmentId: EnvironmentId;
    eventName: string;
    limit: number;
  }): Promise<{ functionNo: FunctionNo; waits: number }[]>;
  /** How many runs each event started, alone or in a batch, by status. Events without runs are left out. */
  runCountByEvent(params: { environmentId: EnvironmentId; eventIds: readonly EventId[] }): Promise<EventRunCounts[]>;
}
