/** The body of a call: validated where the SDK relies on it, unchecked elsewhere. */

import type { ReceivedEvent } from "../events/event-types.ts";
import type { StepMemos } from "./step-operations.ts";

export interface CallBody {
  event: ReceivedEvent;
  events: ReceivedEvent[];
  steps: StepMemos;
  runId: string;
  attempt: number;
  maxAttempts: number;
  stack: string[];
  disableImmediateExecution: boolean;
  /** Events and steps were too large to include: they have to be fetched. */
  useApi: boolean;
  /** The service keeps log lines that are sent with the response. */
  takesLogs: boolean;
}

type Json = Record<string, unknown>;

/** The body, or a sentence that describes its fault. */
export function readCallBody(body: unknown): CallBody | string {
  if (!isObject(body)) return "the body is not a JSON object";
  const { ctx, steps } = body;
  if (!isObject(ctx) || typeof ctx.run_id !== "string" || !ctx.run_id) return "ctx.run_id is missing";
  const useApi = ctx.use_api === true || body.use_api === true;
  const events = Array.isArray(body.events) && body.events.length > 0 ? body.events : [body.event];
  const event = body.event ?? events[0];
  if (!useApi && !isObject(event)) return "event is missing";
  const stack = isObject(ctx.stack) && Array.isArray(ctx.stack.stack) ? (ctx.stack.stack as string[]) : [];
  return {
    event: event as ReceivedEvent,
    events: events as ReceivedEvent[],
    steps: isObject(steps) ? steps : {},
    runId: ctx.run_id,
    attempt: wholeNumber(ctx.attempt) ?? 0,
    maxAttempts: wholeNumber(ctx.max_attempts) ?? 5,
    stack,
    disableImmediateExecution: ctx.disable_immediate_execution === true,
    useApi,
    takesLogs: ctx.logs === true,
  };
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function wholeNumber(value: unknown): number | undefined {
  return Number.isInteger(value) ? (value as number) : undefined;
}
