/** Runs, their steps and calls, as the REST API responds with them. */

import type { RunEndStatus, RunStatus } from "@inlet/protocol/run-status";
import type { JsonText } from "../json-text.ts";

export { RUN_STATUSES, type RunStatus } from "@inlet/protocol/run-status";

export interface RunMention {
  id: string;
  status: RunStatus;
  function: { id: string; name: string };
}

export const ENDED_STATUSES: ReadonlySet<string> = new Set(["completed", "failed", "cancelled"] satisfies RunEndStatus[]);

export interface RunItem extends RunMention {
  app: string;
  environment: string;
  event: { id: string; name: string; preview: string } | null;
  cron: string | null;
  createdAt: string;
  startedAt: string | null;
  endedAt: string | null;
  originalRunId: string | null;
  /** Without its stack in lists. */
  error: RunError | null;
  failedAttempts: number;
  /** The job that started it. */
  job: string | null;
}

export type RunCounts = Partial<Record<RunStatus, number>>;

export interface RunError {
  name: string;
  message: string;
  stack?: string;
}

export type StepStatus = "planned" | "running" | "completed" | "failed" | "sleeping" | "waiting";

export interface RunStep {
  id: string;
  name: string;
  kind: "run" | "sleep" | "wait" | "invoke" | string;
  status: StepStatus;
  startedAt: string | null;
  endedAt: string | null;
  attempts: number;
  output: JsonText | null;
  error: RunError | null;
  until: string | null;
  eventName: string | null;
  /** The event that ended a wait. */
  eventId: string | null;
  signal: string | null;
  approvalId: string | null;
  childRunId: string | null;
}

export interface RunAttempt {
  attempt: number;
  stepId: string | null;
  startedAt: string;
  endedAt: string | null;
  httpStatus: number | null;
  outcome: string;
  error: RunError | null;
}

export interface RunCall {
  stepId: string | null;
  attempt: number;
  outcome: "ok" | "error";
  startedAt: string;
  endedAt: string;
  httpStatus: number | null;
  request: { method: string; path: string; steps: string[] };
  /** The start of the body, and its full length. */
  answer: { body: string; length: number } | null;
  /** What the function wrote through its logger. */
  logs: { lines: { at: string; level: string; message: string; stepId: string | null }[]; dropped: number } | null;
}

export interface Run extends RunItem {
  /** The value of its function's ordering key, as JSON text. */
  orderKey: string | null;
  /** Why it is not being called at the moment. */
  waiting: { reason: string; until: string | null; runId: string | null } | null;
  /** The last run that repeats it. */
  rerun: { id: string; status: RunStatus } | null;
  /** The run that invoked it. */
  invokedBy: string | null;
  /** The event that cancelled it. */
  cancelledBy: string | null;
  traceId: string | null;
  /** The page that shows the trace. */
  traceUrl: string | null;
  output: JsonText | null;
  steps: RunStep[];
  attempts: RunAttempt[];
  calls: RunCall[];
}
