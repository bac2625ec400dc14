/** Converts rows of runs, failed attempts and calls to the contract's records. Used by the writer and by the read thread. */

import type { EnvironmentId, EventId, FunctionNo, JobId, RunId, RunNo, StepId } from "@inlet/protocol";
import { eventIdTime } from "@inlet/protocol/event-id";
import type { FailedAttempt, LogLines, RunDetails, RunError, RunRecord, RunStatus, RunSummary } from "../../contract/index.ts";
import { type StepRowWithValue, toStepRecord } from "./step-rows.ts";

/** Everything except the output, which may be large. */
export const RUN_COLUMNS = `run_no, runs.environment_id, run_id, function_no, event_no, event_nos, status, lane, created_at, started_at, ended_at,
  request_version, is_parallel, state_bytes, cron, original_run_id, job_id, invoker_run_no, invoker_step_id, order_key`;

/** The length of the data preview in lists of runs: enough to distinguish two runs. */
export const PREVIEW_UNITS = 160;

export interface RunRow {
  run_no: number;
  environment_id: number;
  run_id: string;
  function_no: number;
  event_no: number;
  event_nos: string | null;
  status: string;
  lane: string;
  created_at: number;
  started_at: number | null;
  ended_at: number | null;
  request_version: number;
  is_parallel: number;
  state_bytes: number;
  cron: string | null;
  original_run_id: string | null;
  job_id: string | null;
  invoker_run_no: number | null;
  invoker_step_id: string | null;
  order_key: string | null;
}

export interface RunSummaryRow extends RunRow {
  event_id: string | null;
  event_name: string | null;
  event_preview: string | null;
  event_trace: string | null;
  error: string | null;
  failed_attempts: number;
}

export interface AttemptRow {
  step_id: string | null;
  attempt: number;
  started_at: number;
  ended_at: number;
  http_status: number | null;
  error: string;
}

export interface CallRow {
  step_id: string | null;
  attempt: number;
  started_at: number;
  ended_at: number;
  http_status: number | null;
  is_error: number;
  path: string;
  steps_given: number;
  answer: string | null;
  answer_length: number;
  logs: string | null;
}

export function toRunRecord(row: RunRow): RunRecord {
  const { invoker_run_no, invoker_step_id } = row;
  return {
    no: row.run_no as RunNo,
    id: row.run_id as RunId,
    environmentId: row.environment_id as EnvironmentId,
    functionNo: row.function_no as FunctionNo,
    status: row.status as RunStatus,
    lane: row.lane,
    eventSequence: row.event_no,
    createdAt: row.created_at,
    startedAt: row.started_at,
    endedAt: row.ended_at,
    requestVersion: row.request_version,
    isParallel: row.is_parallel === 1,
    stateBytes: row.state_bytes,
    cron: row.cron,
    originalRunId: row.original_run_id as RunId | null,
    jobId: row.job_id as JobId | null,
    invoker: invoker_run_no === null ? null : { runNo: invoker_run_no as RunNo, stepId: invoker_step_id as StepId },
    orderKey: row.order_key,
  };
}

/** A run shows the time of its id, by which lists are sorted and filtered. It is stored some milliseconds later. */
export function toRunSummary(row: RunSummaryRow): RunSummary {
  return {
    ...toRunRecord(row),
    createdAt: eventIdTime(row.run_id),
    event: row.event_id === null ? null : eventOf(row, row.event_id as EventId),
    trace: row.event_trace,
    eventSequences: row.event_nos === null ? null : (JSON.parse(row.event_nos) as number[]),
    error: row.error === null ? null : (JSON.parse(row.error) as RunError),
    failedAttempts: row.failed_attempts,
  };
}

function eventOf({ event_name, event_preview }: RunSummaryRow, id: EventId): RunSummary["event"] {
  return { id, name: event_name ?? "", preview: event_preview ?? "" };
}

export function toFailedAttempt(row: AttemptRow): FailedAttempt {
  return {
    stepId: row.step_id as StepId | null,
    attempt: row.attempt,
    startedAt: row.started_at,
    endedAt: row.ended_at,
    httpStatus: row.http_status,
    error: JSON.parse(row.error) as RunError,
  };
}

/** `doneSteps`: the run's steps in the order in which they ended. */
export function toCallRecord(row: CallRow, doneSteps: readonly StepId[]): RunDetails["calls"][number] {
  return {
    stepId: row.step_id as StepId | null,
    attempt: row.attempt,
    startedAt: row.started_at,
    endedAt: row.ended_at,
    httpStatus: row.http_status,
    outcome: row.is_error === 1 ? "error" : "ok",
    path: row.path,
    stepsGiven: doneSteps.slice(0, row.steps_given),
    answer: row.answer,
    answerLength: row.answer_length,
    logs: row.logs === null ? null : (JSON.parse(row.logs) as LogLines),
  };
}

/** The ids of the completed steps, in the order in which they ended. */
export function doneSteps(rows: readonly { step_id: string; done_position: number | null }[]): StepId[] {
  const done = rows.filter(({ done_position }) => done_position !== null);
  return done.sort((a, b) => Number(a.done_position) - Number(b.done_position)).map(({ step_id }) => step_id as StepId);
}

/** All that is stored of a run, by the rows that were read. */
export interface RunRows {
  row: RunSummaryRow & { output: string | null; cancel_event_id: EventId | null };
  rerun: RunDetails["rerun"] | undefined;
  invoker: { id: RunId } | undefined;
  steps: readonly StepRowWithValue[];
  attempts: readonly AttemptRow[];
  calls: readonly CallRow[];
}

export function toRunDetails({ row, rerun, invoker, steps, attempts, calls }: RunRows): RunDetails {
  const done = doneSteps(steps);
  return {
    ...toRunSummary(row),
    rerun: rerun ?? null,
    invokedBy: invoker?.id ?? null,
    cancelledBy: row.cancel_event_id,
    output: row.output,
    steps: steps.map((step) => ({ ...toStepRecord(step), value: step.value })),
    attempts: attempts.map(toFailedAttempt),
    calls: calls.map((call) => toCallRecord(call, done)),
  };
}
