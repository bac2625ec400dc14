/** Steps of runs, their failures, and the calls to apps. */

import type { EventId, GatewayRequest, StepId } from "@inlet/protocol";

/**
 * `send` is a step that sends events, `wait` one that waits for an event, `signal` one that waits for a signal, `approval` one that
 * waits for the decision of a person. `fetch` and `infer` are
 * requests that the service makes, `wrap` is a call of an AI library, `defer` is a function that is started when the run has ended.
 */
export const STEP_KINDS = ["run", "send", "sleep", "wait", "signal", "approval", "invoke", "fetch", "infer", "wrap", "defer"] as const;
export type StepKind = (typeof STEP_KINDS)[number];
/** A step is open until it is completed or failed, and then never changes again. */
export type StepStatus = "planned" | "running" | "sleeping" | "waiting" | "completed" | "failed";

export interface StepRecord {
  id: StepId;
  kind: StepKind;
  name: string;
  status: StepStatus;
  /** Its position among the run's steps in the order in which they were found. */
  position: number;
  /** Its position in the order in which steps ended: a call that included n results included those below n. Null while it is open. */
  donePosition: number | null;
  startedAt: number;
  endedAt: number | null;
  attempts: number;
  until: number | null;
  /** The event or signal waited for, the id of the approval, the id of the run invoked, or a request as JSON (protocol/gateway-request.ts). */
  detail: string | null;
  /** The event that ended the wait, or with which the other function was invoked. */
  eventId?: EventId | null;
}

export interface StepWrite extends Omit<StepRecord, "position" | "donePosition"> {
  /** JSON text as the SDK receives it; absent while the step is open. */
  value?: string;
}

/** The request of an open step. */
export interface StepRequest {
  kind: StepKind;
  request: GatewayRequest;
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

/** One call to the app for a run, whatever its outcome. The request is not stored again: event and steps are in the store. */
export interface CallRecord {
  /** The planned step that was called; null: the function itself. */
  stepId: StepId | null;
  attempt: number;
  startedAt: number;
  endedAt: number;
  /** Null if there was no response. */
  httpStatus: number | null;
  /** `error`: it caused a failed attempt, or failed the run. */
  outcome: "ok" | "error";
  /** Of the URL called, including its query. */
  path: string;
  /** How many step results it included: those that ended first. */
  stepsGiven: number;
  /** The beginning of the response body; null if there was no response. */
  answer: string | null;
  /** Of the whole body, in UTF-16 units. */
  answerLength: number;
  /** What the function wrote through its logger during the call; null if nothing. */
  logs: LogLines | null;
}

export interface LogLines {
  lines: readonly LogLine[];
  /** How many more the function wrote. */
  dropped: number;
}

export interface LogLine {
  at: number;
  level: "debug" | "info" | "warn" | "error";
  message: string;
  /** The step whose code wrote it; null: the function itself. */
  stepId: StepId | null;
}
