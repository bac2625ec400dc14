/** Runs from the REST API, and their text for the terminal. */

import { fieldsText, statusText, visible } from "../command-line/write-table.ts";
import { memberText } from "../events/event-text.ts";

export interface RunFields {
  id: string;
  status: string;
  function: { id: string; name: string };
  app: string;
  environment: string;
  event: { id: string; name: string } | null;
  cron: string | null;
  createdAt: string;
  startedAt: string | null;
  endedAt: string | null;
  originalRunId: string | null;
  error?: RunError | null;
}

export interface RunError {
  name?: string;
  message?: string;
  stack?: string;
}

export interface StepFields {
  id: string;
  name: string;
  kind: string;
  status: string;
  startedAt: string | null;
  endedAt: string | null;
  attempts: number;
  until: string | null;
  eventName: string | null;
  signal: string | null;
  childRunId: string | null;
  error: RunError | null;
}

export interface AttemptFields {
  attempt: number;
  stepId: string | null;
  startedAt: string | null;
  error: RunError | null;
}

export interface CallFields {
  stepId: string | null;
  attempt: number;
  outcome: "ok" | "error";
  startedAt: string;
  endedAt: string;
  httpStatus: number | null;
  request: { method: string; path: string; steps: string[] };
  answer: { body: string; length: number } | null;
}

export interface RunDetails extends RunFields {
  error: RunError | null;
  steps: StepFields[];
  attempts: AttemptFields[];
  calls: CallFields[];
}

export const ENDED: ReadonlySet<string> = new Set(["completed", "failed", "cancelled"]);

/** `text` is the original JSON of the run, from which the output is printed. */
export function runText(run: RunDetails, text: string): string {
  const output = memberText(text, "output");
  return fieldsText([
    ["id", run.id],
    ["status", statusText(run.status)],
    ["function", `${run.function.id} (${visible(run.function.name)})`],
    ["app", run.app],
    ["environment", run.environment],
    ["event", run.event && `${run.event.id}  ${visible(run.event.name)}`],
    ["cron", run.cron],
    ["created", run.createdAt],
    ["started", run.startedAt],
    ["ended", run.endedAt],
    ["rerun of", run.originalRunId],
    ["steps", run.steps.length > 0 ? run.steps.map(stepText).join("\n") : null],
    ["calls", run.calls.length > 0 ? run.calls.map((call) => callText(run, call)).join("\n") : null],
    ["error", errorText(run.error)],
    ["output", output === "null" ? null : output],
  ]);
}

export function stepText({ name, kind, status, attempts, until, eventName, signal, childRunId, error }: StepFields): string {
  const notes = joined([
    attempts > 1 ? `${attempts} attempts` : null,
    until === null || status === "completed" ? null : `until ${until}`,
    eventName && `for ${visible(eventName)}`,
    signal && `for the signal ${visible(signal)}`,
    childRunId && `run ${childRunId}`,
    error && errorText(error),
  ]);
  return joined([visible(name), kind, statusText(status), notes]);
}

/** One call to the app: time, request, response, duration and error. */
function callText(run: RunDetails, call: CallFields): string {
  const { request, httpStatus, answer } = call;
  const isFailure = ({ startedAt, stepId }: AttemptFields) => startedAt === call.startedAt && stepId === call.stepId;
  const given = request.steps.length > 0 ? `with ${request.steps.length === 1 ? "1 step" : `${request.steps.length} steps`}` : null;
  const isLate = run.endedAt !== null && call.endedAt > run.endedAt;
  const head = [
    call.startedAt.slice(11, 23),
    aboutCall(run, call),
    call.attempt > 0 ? `attempt ${call.attempt + 1}` : null,
    httpStatus === null ? "no response" : `status ${httpStatus}`,
    durationText(call.startedAt, call.endedAt),
    errorText(run.attempts.find(isFailure)?.error ?? null) ?? (call.outcome === "error" ? "failed" : null),
    isLate ? "after the run ended" : null,
  ];
  const asked = [`  ${request.method} ${visible(request.path)}`, given];
  const answered = answer && answer.body !== "" ? `  returned ${shortened(answer)}` : null;
  return [joined(head), joined(asked), answered].filter(Boolean).join("\n");
}

/** The requested step, or the steps that the function reached. */
function aboutCall({ steps }: RunDetails, { stepId, startedAt }: CallFields): string {
  const found = steps.filter((step) => (stepId === null ? step.startedAt === startedAt : step.id === stepId));
  return visible(found.length > 0 ? found.map(({ name }) => name).join(", ") : (stepId ?? "the function"));
}

const RESPONSE_UNITS_SHOWN = 200;

function shortened({ body, length }: { body: string; length: number }): string {
  const shown = visible(body.slice(0, RESPONSE_UNITS_SHOWN).toWellFormed());
  return length > RESPONSE_UNITS_SHOWN ? `${shown} … (${length} characters)` : shown;
}

function joined(parts: readonly (string | null)[]): string {
  return parts.filter(Boolean).join("  ");
}

export function durationText(startedAt: string, endedAt: string): string {
  const ms = Date.parse(endedAt) - Date.parse(startedAt);
  return ms < 1_000 ? `${ms} ms` : `${(ms / 1_000).toFixed(1)} s`;
}

export function errorText(error: RunError | null): string | null {
  if (!error) return null;
  return visible([error.name, error.message].filter(Boolean).join(": ") || "unknown");
}
