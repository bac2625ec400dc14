/** Runs as the REST API gives them, and as people read them. */

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
  childRunId: string | null;
  error: RunError | null;
}

export interface AttemptFields {
  attempt: number;
  stepId: string | null;
  endedAt: string | null;
  httpStatus: number | null;
  error: RunError | null;
}

export interface RunDetails extends RunFields {
  error: RunError | null;
  steps: StepFields[];
  attempts: AttemptFields[];
}

export const ENDED: ReadonlySet<string> = new Set(["completed", "failed", "cancelled"]);

/** `text` is the run's own JSON, for the output in its own words. */
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
    ["failed calls", run.attempts.length > 0 ? run.attempts.map(attemptText).join("\n") : null],
    ["error", errorText(run.error)],
    ["output", output === "null" ? null : output],
  ]);
}

export function stepText({ name, kind, status, attempts, until, eventName, childRunId, error }: StepFields): string {
  const notes = [
    attempts > 1 ? `${attempts} attempts` : null,
    until === null || status === "completed" ? null : `until ${until}`,
    eventName && `for ${visible(eventName)}`,
    childRunId && `run ${childRunId}`,
    error && errorText(error),
  ].filter(Boolean);
  return [visible(name), kind, statusText(status), ...notes].join("  ");
}

function attemptText({ attempt, stepId, httpStatus, error }: AttemptFields): string {
  const where = stepId === null ? "function" : `step ${stepId.slice(0, 8)}`;
  return [`attempt ${attempt + 1}`, where, httpStatus === null ? "no answer" : `status ${httpStatus}`, errorText(error) ?? ""]
    .join("  ")
    .trimEnd();
}

export function errorText(error: RunError | null): string | null {
  if (!error) return null;
  return visible([error.name, error.message].filter(Boolean).join(": ") || "unknown");
}
