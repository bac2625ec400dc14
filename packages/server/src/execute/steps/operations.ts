/** Step operations as SDKs return them: small fields as values, results in the SDK's own text. */

import { type JsonMember, type StepId, scanJson } from "@inlet/protocol";
import type { RunError, StepRecord } from "../../store/contract/index.ts";

export interface Operation {
  /** In lower case: SDKs differ. */
  op: string;
  id: StepId;
  /** For sleeps and waits of some SDKs, a parameter: the duration, the event. */
  name: string;
  /** The display name of the step. */
  displayName: string;
  opts: Readonly<Record<string, unknown>>;
  /** JSON text of `opts`, for values that must be passed on unchanged. */
  optsText: string | null;
  /** JSON text. */
  data: string;
  /** JSON text. */
  error: string | null;
  /** When the step's code ran, by the app's clock; null if the SDK does not say. */
  ran: { from: number; to: number } | null;
}

/** SDKs send hashes. Steps are found by their ids: an index holds no text of any length. */
const STEP_ID_UNITS_MAX = 256;

/** Null if the text is not an operation or array of operations. */
export function readOperations(text: string): Operation[] | null {
  const scanned = scanJson(text);
  if (!scanned) return null;
  const members = "object" in scanned ? [scanned.object] : scanned.elements;
  const operations = members.map((fields) => (fields ? readOperation(text, fields) : null));
  return operations.every((operation) => operation !== null) ? operations : null;
}

function readOperation(text: string, members: readonly JsonMember[]): Operation | null {
  const written = (key: string) => {
    const member = members.findLast((candidate) => candidate.key === key);
    const value = member && text.slice(member.start, member.end);
    return value === undefined || value === "null" ? null : value;
  };
  const string = (key: string) => {
    const value: unknown = JSON.parse(written(key) ?? "null");
    return typeof value === "string" ? value : null;
  };
  const op = string("op");
  const id = string("id") ?? "";
  if (op === null || id.length > STEP_ID_UNITS_MAX) return null;
  const name = string("name") ?? "";
  const opts: unknown = JSON.parse(written("opts") ?? "{}");
  return {
    op: op.toLowerCase(),
    id: id as StepId,
    name,
    displayName: string("displayName") ?? name,
    opts: typeof opts === "object" && opts !== null ? (opts as Record<string, unknown>) : {},
    optsText: written("opts"),
    data: written("data") ?? "null",
    error: written("error"),
    ran: readTiming(JSON.parse(written("timing") ?? "null")),
  };
}

const NANOSECONDS_PER_MS = 1e6;

/** A start and a duration, in nanoseconds. */
function readTiming(timing: unknown): Operation["ran"] {
  const { a, b } = (typeof timing === "object" && timing !== null ? timing : {}) as { a?: unknown; b?: unknown };
  if (typeof a !== "number" || typeof b !== "number") return null;
  return { from: Math.floor(a / NANOSECONDS_PER_MS), to: Math.floor((a + b) / NANOSECONDS_PER_MS) };
}

/** When a step began and ended: as its SDK says, unless the app's clock is obviously wrong. It must be between `from` and `to`. */
export function stepTimes({ ran }: Operation, { from, to }: { from: number; to: number }): { startedAt: number; endedAt: number } {
  if (!ran || ran.from < from || ran.to < ran.from || ran.to > to) return { startedAt: from, endedAt: to };
  return { startedAt: ran.from, endedAt: ran.to };
}

/**
 * When the last of these steps ended, or `from` if that is later. Where steps run one after the other, the next one began after this time,
 * whatever the app's clock says.
 */
export function endOfSteps(steps: readonly Pick<StepRecord, "endedAt">[], from: number): number {
  return steps.reduce((latest, { endedAt }) => Math.max(latest, endedAt ?? latest), from);
}

/** The id under which an SDK reports the end of the function itself, if its response also contains deferred functions. */
export const FUNCTION_STEP_ID = "0737c22d3bfae812339732d14d8c7dbd6dc4e09c" as StepId;

/** Whether the function does not wait for it. */
export function isDeferred({ op }: Operation): boolean {
  return op === "deferadd" || op === "deferabort";
}

/** The function itself failed. */
export function isFunctionError({ op, id }: Operation): boolean {
  return id === FUNCTION_STEP_ID && (op === "steperror" || op === "stepfailed");
}

/** Whether it reports the end of a step. */
export function isResult({ op }: Operation): boolean {
  return op === "step" || op === "steprun" || op === "stepfailed";
}

/** Whether it is a step that sends events. */
export function isSend({ opts }: Operation): boolean {
  return opts.type === "step.sendEvent";
}

/** Of a step that runs in the app. */
export function runKind(operation: Operation): "run" | "send" | "wrap" {
  if (isSend(operation)) return "send";
  return operation.opts.type === "step.ai.wrap" ? "wrap" : "run";
}

/** A step of `group.parallel`: the function must be called as soon as the first one ends. */
export function isRacing({ opts }: Operation): boolean {
  return opts.parallelMode === "race";
}

/** What a function receives for a step that failed permanently. */
export function errorValue({ error }: Operation): string {
  return `{"error":${error ?? '{"name":"Error","message":"The step failed."}'}}`;
}

/** The error reported by an SDK, formatted for people. */
export function readError(text: string | null, fallback: string): RunError {
  const value: unknown = text === null ? null : parsed(text);
  if (typeof value === "string") return { name: "Error", message: value };
  if (typeof value !== "object" || value === null) return { name: "Error", message: fallback };
  const { name, message, stack, error } = value as Record<string, unknown>;
  return {
    name: typeof name === "string" ? name : "Error",
    message: firstText(message, error) ?? fallback,
    ...(typeof stack === "string" && { stack }),
  };
}

function firstText(...values: unknown[]): string | undefined {
  return values.find((value): value is string => typeof value === "string" && value !== "");
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
