/** Runs as shown to people. Outputs and results are included as the SDK wrote them, so the view is JSON text. */

import { type FunctionNo, type StepId, shownRequest, traceIdOf } from "@inlet/protocol";
import type { RunDetails, RunSummary, RunWaiting, StepRecord } from "../store/contract/index.ts";
import { tokensIn } from "./tokens.ts";

export interface RunNames {
  environment: string;
  function(no: FunctionNo): { id: string; name: string; app: string };
}

export function runView(run: RunSummary, names: RunNames): Record<string, unknown> {
  const { id, name, app } = names.function(run.functionNo);
  return {
    id: run.id,
    status: run.status,
    function: { id, name },
    app,
    environment: names.environment,
    event: run.event,
    cron: run.cron,
    createdAt: iso(run.createdAt),
    startedAt: iso(run.startedAt),
    endedAt: iso(run.endedAt),
    originalRunId: run.originalRunId,
    error: run.error && { name: run.error.name, message: run.error.message.slice(0, MESSAGE_UNITS_MAX) },
    failedAttempts: run.failedAttempts,
    job: run.jobId,
    orderKey: run.orderKey,
    traceId: run.trace && traceIdOf(run.trace),
  };
}

/** Maximum length of an error message in lists. */
const MESSAGE_UNITS_MAX = 500;

export interface RunSurroundings {
  /** The template of the pages that show traces. */
  traceUrl: string | null;
  waiting: RunWaiting | null;
  /** The approvals that its steps wait for, or waited for, by step. */
  approvals: ReadonlyMap<StepId, { id: string; url: string }>;
}

/** JSON text. */
export function runDetailsView(run: RunDetails, names: RunNames, { traceUrl, waiting, approvals }: RunSurroundings): string {
  const page = run.trace && traceUrl?.replaceAll("{traceId}", traceIdOf(run.trace));
  const summary = JSON.stringify({
    ...runView(run, names),
    traceUrl: page ?? null,
    error: run.error,
    rerun: run.rerun,
    invokedBy: run.invokedBy,
    cancelledBy: run.cancelledBy,
    waiting: waiting && { ...waiting, until: iso(waiting.until) },
  });
  const attempts = run.attempts.map(({ startedAt, endedAt, ...attempt }) => ({
    ...attempt,
    outcome: "error",
    startedAt: iso(startedAt),
    endedAt: iso(endedAt),
  }));
  const steps = run.steps.map((step) => stepView(step, approvals.get(step.id) ?? null)).join(",");
  const details = `"attempts":${JSON.stringify(attempts)},"calls":${JSON.stringify(run.calls.map(callView))}`;
  return `${summary.slice(0, -1)},"output":${run.output ?? "null"},"steps":[${steps}],${details}}`;
}

function callView({ stepId, attempt, startedAt, endedAt, outcome, httpStatus, ...call }: RunDetails["calls"][number]) {
  return {
    stepId,
    attempt,
    outcome,
    startedAt: iso(startedAt),
    endedAt: iso(endedAt),
    httpStatus,
    request: { method: "POST", path: call.path, steps: call.stepsGiven },
    answer: call.answer === null ? null : { body: call.answer, length: call.answerLength },
    logs: call.logs && { ...call.logs, lines: call.logs.lines.map(({ at, ...line }) => ({ at: iso(at), ...line })) },
  };
}

function stepView({ value, ...step }: StepRecord & { value: string | null }, approval: { id: string; url: string } | null): string {
  const { id, kind, name, status, startedAt, endedAt, attempts, until, detail, eventId = null } = step;
  const { output, error } = resultOf(value, kind);
  const fields = JSON.stringify({
    id,
    name,
    kind,
    status,
    attempts,
    startedAt: iso(startedAt),
    endedAt: iso(endedAt),
    until: iso(until),
    eventName: kind === "wait" ? detail : null,
    eventId: kind === "wait" ? eventId : null,
    signal: kind === "signal" ? detail : null,
    approvalId: approval?.id ?? (kind === "approval" ? detail : null),
    url: approval?.url ?? null,
    childRunId: kind === "invoke" ? detail : null,
    request: (kind === "fetch" || kind === "infer") && detail !== null ? shownRequest(detail) : null,
    tokens: kind === "infer" || kind === "wrap" ? tokensIn(output) : null,
  });
  return `${fields.slice(0, -1)},"output":${output},"error":${error}}`;
}

/** Step results are stored as the SDK receives them: `{"data":…}`, `{"error":…}`, or the event itself. */
function resultOf(value: string | null, kind: string): { output: string; error: string } {
  if (value === null) return { output: "null", error: "null" };
  if (value.startsWith('{"error":')) return { output: "null", error: value.slice('{"error":'.length, -1) };
  if (kind !== "wait" && value.startsWith('{"data":')) return { output: value.slice('{"data":'.length, -1), error: "null" };
  return { output: value, error: "null" };
}

export function iso(ms: number): string;
export function iso(ms: number | null): string | null;
export function iso(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
