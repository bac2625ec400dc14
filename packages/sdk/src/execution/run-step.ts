/** Runs the body of one step and returns the outcome as a wire operation. */

import { currentRun, inRunContext, type RunContext } from "../client/run-context.ts";
import { isFinal, NonRetriableError, retryAfterSeconds } from "../errors.ts";
import type { CallInfo, Middleware, MiddlewareStep } from "../middleware/middleware.ts";
import { runHooks, thrown } from "../middleware/run-hooks.ts";
import type { StepOperation } from "../wire/step-operations.ts";
import { toWireError } from "../wire/wire-error.ts";
import type { CallLogs } from "./call-logs.ts";
import { describe, type FoundStep } from "./found-step.ts";

export interface StepOutcome {
  operation: StepOperation;
  /** The operation as JSON: serialised here, because a value that cannot be serialised must fail the step, not the response. */
  text: string;
  /** For a failed attempt: whether and when it is retried. */
  retry?: { isFinal: boolean; afterSeconds: number | undefined };
}

/** The call that a step runs in. */
export interface StepCall extends Pick<RunContext, "runId" | "sessions" | "capture"> {
  middleware: readonly Middleware[];
  info: CallInfo;
  logs?: CallLogs | undefined;
}

export async function runStep(step: FoundStep, call: StepCall): Promise<StepOutcome> {
  const startedAt = Date.now();
  call.logs?.enterStep(step.hash);
  try {
    const context: RunContext = { runId: call.runId, sessions: call.sessions, capture: call.capture, stepId: step.id };
    const result = await inRunContext(context, () => runCode(step, call));
    const operation: StepOperation = {
      op: "StepRun",
      ...describe(step),
      opts: step.opts ?? {},
      data: result ?? null,
      timing: since(startedAt),
    };
    return { operation, text: written(step.id, operation) };
  } catch (thrown) {
    const final = isFinal(thrown);
    // Only the service knows which attempt is the last one.
    const operation: StepOperation = {
      op: final ? "StepFailed" : "StepError",
      ...describe(step),
      opts: step.opts ?? {},
      error: toWireError(thrown),
      timing: since(startedAt),
    };
    return { operation, text: JSON.stringify(operation), retry: { isFinal: final, afterSeconds: retryAfterSeconds(thrown) } };
  }
}

/** The code of the step, with the hooks around it. */
async function runCode(step: FoundStep, { middleware, info }: StepCall): Promise<unknown> {
  if (middleware.length === 0) return step.run?.(step, step.input ?? []);
  const about = { ...info, step: { id: step.id, kind: kindOf(step) } };
  const before = await runHooks(middleware, "beforeStep", { ...about, input: step.input ?? [] });
  const ended = await Promise.resolve(before.input)
    .then((input) => step.run?.(step, [...input]))
    .then((result) => ({ result, error: undefined }), thrown);
  const after = await runHooks(middleware, "afterStep", { ...about, ...ended });
  if (after.error !== undefined) throw after.error;
  return after.result;
}

/** `opts.type` is "step." and the name of the tool. */
function kindOf({ opts }: FoundStep): MiddlewareStep["kind"] {
  return String(opts?.type).replace(/^step\./, "") as MiddlewareStep["kind"];
}

const NANOSECONDS_PER_MS = 1e6;

function since(startedAt: number): { a: number; b: number } {
  return { a: startedAt * NANOSECONDS_PER_MS, b: (Date.now() - startedAt) * NANOSECONDS_PER_MS };
}

/** Steps cannot be nested: the inner one would be repeated with the outer. */
export function refuseNested(id: string): void {
  const outer = currentRun()?.stepId;
  if (outer !== undefined)
    throw new NonRetriableError(
      `Step "${id}" is inside step "${outer}". Await it before or after, or make it part of the outer step's code`,
    );
}

function written(id: string, operation: StepOperation): string {
  try {
    return JSON.stringify(operation);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new NonRetriableError(`The result of step "${id}" cannot be kept as JSON: ${reason}`, { cause });
  }
}
