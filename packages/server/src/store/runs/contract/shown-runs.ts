/** Runs as people look at them: in lists, one with all its steps, grouped by their errors, and as figures. */

import type { EnvironmentId, EventId, FunctionNo, JobId, RunId, StepId } from "@inlet/protocol";
import type { RunRecord, RunStatus } from "./runs.ts";
import type { CallRecord, FailedAttempt, RunError, StepRecord } from "./steps.ts";

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
  /** Runs are not found by an error or an event that contains this: a search finds out nothing that is hidden from the reader. */
  hidden?: RegExp;
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

export interface RunEndCount {
  count: number;
  /** From when on ends are counted: `since`, or when the first one ended of `limit` runs that were looked at. */
  countedFrom: number;
}
