/**
 * Finds in the expression of a wait or a cancellation an equality that must hold for it to match, such as
 * `async.data.userId == event.data.userId`, so that waits can be looked up by that value instead of being evaluated one by one for
 * every event that arrives.
 */

import type { ASTNode } from "@marcbachmann/cel-js";
import { parseExpression } from "./cel/parse.ts";
import { compileExpression, type EventValue, isFault } from "./expressions.ts";

/** The arriving event's value at `asyncPath` must equal the expected one, otherwise the expression cannot be true. */
export interface EqualityKey {
  asyncPath: string;
  /** A path of the event that started the run, or a value. */
  expected: { path: string } | { literal: string | number | boolean };
}

/** Null if there is none, or the expression does not compile. */
export function equalityKey(text: string): EqualityKey | null {
  return isFault(compileExpression(text)) ? null : keyIn(parseExpression(text));
}

/**
 * Two values have equal keys exactly if expressions treat them as equal. Null for a value that is not a string, a number or a boolean,
 * which must be found without a key.
 */
export function keyOfValue(value: unknown): string | null {
  if (typeof value === "string") return `s:${value}`;
  if (typeof value === "boolean") return `b:${value}`;
  return typeof value === "number" && Number.isFinite(value) ? `n:${value}` : null;
}

/** Undefined if it does not exist. */
export function valueAt(event: EventValue, path: string): unknown {
  let value: unknown = event;
  for (const field of path.split(".")) {
    if (typeof value !== "object" || value === null || Array.isArray(value) || !Object.hasOwn(value, field)) return undefined;
    value = (value as Record<string, unknown>)[field];
  }
  return value;
}

/** Both sides of an && must be true for it to be true. */
function keyIn(node: ASTNode): EqualityKey | null {
  if (node.op === "&&") return keyIn(node.args[0]) ?? keyIn(node.args[1]);
  if (node.op !== "==") return null;
  return keyOf(node.args[0], node.args[1]) ?? keyOf(node.args[1], node.args[0]);
}

function keyOf(awaited: ASTNode, other: ASTNode): EqualityKey | null {
  const asyncPath = pathFrom("async", awaited);
  if (asyncPath === null) return null;
  const path = pathFrom("event", other);
  if (path !== null) return { asyncPath, expected: { path } };
  const literal = literalOf(other);
  return literal === null ? null : { asyncPath, expected: { literal } };
}

/** `data.userId` of `async.data.userId` and `async["data"].userId`. */
function pathFrom(variable: string, node: ASTNode): string | null {
  const fields: string[] = [];
  let at = node;
  while (at.op === "." || (at.op === "[]" && at.args[1].op === "value")) {
    const field: unknown = at.op === "." ? at.args[1] : (at.args[1] as { args: unknown }).args;
    if (typeof field !== "string" || field.includes(".")) return null;
    fields.unshift(field);
    at = at.args[0];
  }
  return at.op === "id" && at.args === variable && fields.length > 0 ? fields.join(".") : null;
}

function literalOf(node: ASTNode): string | number | boolean | null {
  if (node.op === "-_") {
    const value = literalOf(node.args);
    return typeof value === "number" ? -value : null;
  }
  if (node.op !== "value") return null;
  const value = node.args;
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : null;
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? value : null;
}
