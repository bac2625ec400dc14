/** The response of a call while the function is not finished: one operation per step that the service has to handle. */

import type { WireError } from "./wire-error.ts";

interface OperationBase {
  /** SHA-1 of the step's id, in hex. */
  id: string;
  /** For Sleep the duration, for WaitForEvent the event's name, for WaitForSignal the signal, else the step's id. */
  name: string;
  displayName: string;
  opts?: Record<string, unknown>;
  /** The id as written in the function, and its use count. */
  userland: { id: string; index: number };
}

/** When the step's code began, and how long it ran, in nanoseconds. */
interface Timing {
  timing?: { a: number; b: number };
}

export type StepOperation =
  | (OperationBase & Timing & { op: "StepRun"; data: unknown })
  | (OperationBase & Timing & { op: "StepError" | "StepFailed"; error: WireError })
  | (OperationBase & { op: "StepPlanned" | ServiceOperation });

/** A function to start when the run has ended, or an aborted one. */
export type DeferOperation = OperationBase & { op: "DeferAdd" | "DeferAbort" };

/** Steps that the service handles. */
export type ServiceOperation = "Sleep" | "WaitForEvent" | "WaitForSignal" | "WaitForApproval" | "InvokeFunction" | "Gateway" | "AIGateway";

/** The stored results of ended steps, by hashed id, in their wire forms; `readMemo` distinguishes them. */
export type StepMemos = Readonly<Record<string, unknown>>;

/** One step's outcome as the function's code will see it. */
export type Memo = { kind: "data"; data: unknown } | { kind: "error"; error: WireError } | { kind: "input"; input: unknown[] };

const WRAPPERS = new Set(["data", "error", "input", "type"]);

/** `{data}`, `{error}` and `{input}` are wrappers only if they have no other fields: a whole event also has a `data`. */
export function readMemo(value: unknown): Memo {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return { kind: "data", data: value };
  const keys = Object.keys(value).filter((key) => key !== "type");
  const only = keys.length === 1 ? keys[0] : undefined;
  if (only === undefined || !Object.keys(value).every((key) => WRAPPERS.has(key))) return { kind: "data", data: value };
  const wrapped = (value as Record<string, unknown>)[only];
  if (only === "error" && typeof wrapped === "object" && wrapped !== null) return { kind: "error", error: wrapped as WireError };
  if (only === "input" && Array.isArray(wrapped)) return { kind: "input", input: wrapped };
  return { kind: "data", data: only === "data" ? wrapped : value };
}
