/** Reads the parameters of sleeps, waits and invocations, which SDKs put in different fields. */

import {
  type EnvironmentId,
  EVENT_NAME_UNITS_MAX,
  type EventIdGenerator,
  type FunctionNo,
  joinMembers,
  jsonMembers,
  parseDuration,
  settleSessions,
  YEAR_MS,
} from "@inlet/protocol";
import {
  APPROVAL_DATA_UNITS_MAX,
  approvalData,
  type NewEvent,
  type NewRun,
  type NewStart,
  PROMPT_UNITS_MAX,
  type RunState,
  SIGNAL_UNITS_MAX,
} from "../../store/contract/index.ts";
import type { Invocation } from "./call-response.ts";
import { emittedBy } from "./emitted-by.ts";
import { internalBatch } from "./end-events.ts";
import { invokedData } from "./invoked-data.ts";
import type { Operation } from "./operations.ts";
import { failedResult } from "./run-changes.ts";

const INVOKE_TIMEOUT_MS = 365 * 86_400_000;
const CARRIED_FIELDS: readonly string[] = ["user", "v", "meta"];

/** A duration from now, or a time; a sentence if it is neither, or too far ahead: a run that went on early would do what is not due. */
export function readSleep({ name, opts }: Operation, now: number): number | string {
  const given = typeof opts.duration === "string" ? opts.duration : name;
  const until = readTime(given, now);
  if (until === null) return `${JSON.stringify(given)} is neither a duration nor a date.`;
  return until <= now + YEAR_MS ? until : `${JSON.stringify(given)} is more than 366 days ahead.`;
}

export interface WaitFields {
  eventName: string;
  expression: string | null;
  expiresAt: number;
}

export function readWait({ name, opts }: Operation, now: number): WaitFields | string {
  const eventName = typeof opts.event === "string" && opts.event !== "" ? opts.event : name;
  if (eventName === "") return "it names no event.";
  if (eventName.length > EVENT_NAME_UNITS_MAX)
    return `its event has a name of ${eventName.length} characters, at most ${EVENT_NAME_UNITS_MAX} are allowed.`;
  if (eventName.includes("*"))
    return `its event ${JSON.stringify(eventName)} must be the whole name of an event: a pattern would never match one.`;
  const expiresAt = typeof opts.timeout === "string" ? readEnd(opts.timeout, now) : null;
  if (expiresAt === null) return `its timeout ${JSON.stringify(opts.timeout ?? null)} is neither a duration nor a date.`;
  return { eventName, expression: typeof opts.if === "string" && opts.if !== "" ? opts.if : null, expiresAt };
}

export interface SignalFields {
  signal: string;
  expiresAt: number;
  onConflict: "fail" | "replace";
}

export function readSignal({ name, opts }: Operation, now: number): SignalFields | string {
  const signal = typeof opts.signal === "string" && opts.signal !== "" ? opts.signal : name;
  if (signal === "") return "it names no signal.";
  if (signal.length > SIGNAL_UNITS_MAX) return `its signal has ${signal.length} characters, at most ${SIGNAL_UNITS_MAX} are allowed.`;
  const expiresAt = typeof opts.timeout === "string" ? readEnd(opts.timeout, now) : null;
  if (expiresAt === null) return `its timeout ${JSON.stringify(opts.timeout ?? null)} is neither a duration nor a date.`;
  return { signal, expiresAt, onConflict: opts.conflict === "replace" ? "replace" : "fail" };
}

export interface ApprovalFields {
  prompt: string;
  /** JSON text. */
  data: string;
  confirmsReject: boolean;
  expiresAt: number;
}

export function readApproval({ opts, optsText }: Operation, now: number): ApprovalFields | string {
  const { prompt } = opts;
  if (typeof prompt !== "string" || prompt.trim() === "") return "it has no prompt.";
  if (prompt.length > PROMPT_UNITS_MAX) return `its prompt has ${prompt.length} characters, at most ${PROMPT_UNITS_MAX} are allowed.`;
  const data = approvalData((optsText === null ? null : memberText(optsText, "data")) ?? "null");
  if (data.length > APPROVAL_DATA_UNITS_MAX)
    return `its data has ${data.length} characters as compact JSON, at most ${APPROVAL_DATA_UNITS_MAX} are allowed.`;
  const expiresAt = typeof opts.timeout === "string" ? readEnd(opts.timeout, now) : null;
  if (expiresAt === null) return `its timeout ${JSON.stringify(opts.timeout ?? null)} is neither a duration nor a date.`;
  return { prompt, data, confirmsReject: opts.confirmReject === true, expiresAt };
}

/** When something has waited long enough. */
function readEnd(text: string, now: number): number | null {
  const at = readTime(text, now);
  return at === null ? null : Math.min(at, now + YEAR_MS);
}

/** The published SDKs write durations shorter than a second as an empty text. */
function readTime(text: string, now: number): number | null {
  if (text === "") return now;
  const duration = parseDuration(text);
  const at = duration === null ? Date.parse(text) : now + duration;
  return Number.isNaN(at) ? null : at;
}

export interface InvokeParts {
  eventIds: EventIdGenerator;
  /** The run, or the start request, that the event causes. Null if there is no such function in the environment. */
  start(environmentId: EnvironmentId, functionId: string, event: NewEvent, now: number): { run: NewRun } | { start: NewStart } | null;
  functionId(no: FunctionNo): string;
}

/** The id of the function that the operation invokes. */
export function invokedFunction({ op, opts }: Operation): string | null {
  return op === "invokefunction" && typeof opts.function_id === "string" ? opts.function_id : null;
}

/** Starts the other function with an event, in the transaction that stores the wait of this step. */
export function readInvocation(parts: InvokeParts, operation: Operation, state: RunState, now: number): Invocation | string {
  const { run } = state;
  const { opts } = operation;
  const functionId = invokedFunction(operation) ?? "";
  const timeout = typeof opts.timeout === "string" ? readEnd(opts.timeout, now) : now + INVOKE_TIMEOUT_MS;
  if (timeout === null) return `the timeout ${JSON.stringify(opts.timeout)} is neither a duration nor a date.`;
  const origin = { fn_id: functionId, correlation_id: `${run.id}.${operation.id}`, source_fn_id: parts.functionId(run.functionNo) };
  const event: NewEvent = {
    id: parts.eventIds.next(now),
    name: "inngest/function.invoked",
    ts: now,
    dedupId: null,
    ...invokedEvent(operation, JSON.stringify(origin)),
    ...emittedBy(state),
  };
  const child = parts.start(run.environmentId, functionId, event, now);
  if (!child) return `there is no function ${JSON.stringify(functionId)} here. Is its app registered in this environment?`;
  const invoker = { runNo: run.no, stepId: operation.id };
  const started = "run" in child ? { ...event, runs: [{ ...child.run, invoker }] } : { ...event, starts: [child.start] };
  const childRunId = "run" in child ? child.run.id : null;
  return { childRunId, eventId: event.id, expiresAt: timeout, events: [internalBatch(run.environmentId, now, [started])] };
}

/** The caller's data as written, and where it came from, with `user`, `v` and `meta`. */
function invokedEvent({ optsText }: Operation, origin: string): Pick<NewEvent, "data" | "extras"> {
  const payload = optsText === null ? null : memberText(optsText, "payload");
  if (payload === null || !payload.startsWith("{")) return { data: invokedData(null, origin), extras: null };
  const carried = jsonMembers(payload).filter(({ key, start }) => CARRIED_FIELDS.includes(key) && payload[start] !== "n");
  return {
    data: invokedData(memberText(payload, "data"), origin),
    extras: carried.length === 0 ? null : settleSessions(joinMembers(payload, carried)),
  };
}

function memberText(text: string, key: string): string | null {
  const member = jsonMembers(text).findLast((candidate) => candidate.key === key);
  return member ? text.slice(member.start, member.end).trim() : null;
}

/** The result of a step that timed out: null for a wait, an error for an invocation. */
export function timeoutValue(kind: string): { status: "completed" | "failed"; value: string } {
  if (kind !== "invoke") return { status: "completed", value: "null" };
  return failedResult({ name: "InvocationTimeout", message: "The invoked function did not end in time." });
}
