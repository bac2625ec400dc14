/**
 * Expressions of triggers, waits, cancellations and flow control: CEL over `event` and, where an event is awaited, `async`.
 * Compiling and evaluating never throw: what is wrong comes back as a sentence. An expression that has no value for an event, for
 * want of a field or because types do not fit, does not match it; only == and != take a missing field, for null. The work of one evaluation is bounded, regular expressions too.
 */

import type { Compilation, Evaluate } from "./cel/compilation.ts";
import { compileNode } from "./cel/compile.ts";
import { parseExpression } from "./cel/parse.ts";
import { COST_MAX, Fault, isList, isMap, kindOf, Span, type Value } from "./cel/values.ts";

export const EXPRESSION_LENGTH_MAX = 1_000;

/** Parsed JSON: an event as a function receives it. */
export type EventValue = Readonly<Record<string, unknown>>;

export interface ExpressionVariables {
  event: EventValue;
  /** The event that arrived, where one is waited for. */
  async?: EventValue;
  /** What `now()` is. */
  nowMs?: number;
}

export interface ExpressionFault {
  fault: string;
}

export interface Expression {
  readonly text: string;
  /** Only waits and cancellations know `async`. */
  readonly usesAsync: boolean;
  /** A JSON value: whole numbers are numbers, timestamps their ISO text, durations milliseconds. */
  evaluate(variables: ExpressionVariables): { value: unknown } | ExpressionFault;
  /** A fault too when the value is neither true nor false. */
  matches(variables: ExpressionVariables): boolean | ExpressionFault;
}

/**
 * Compiled expressions by text, faults too: a registration is checked, stored and read again. What is used moves to `recent`; when
 * that is full, it becomes `older`, and what was there is forgotten. Two maps, because taking an entry out and putting it back at
 * the end of one costs microseconds.
 */
let recent = new Map<string, Expression | ExpressionFault>();
let older: typeof recent = new Map();
const RECENT_MAX = 1_000;

export function compileExpression(text: string): Expression | ExpressionFault {
  const known = recent.get(text);
  if (known) return known;
  if (text.length > EXPRESSION_LENGTH_MAX) return { fault: `an expression is at most ${EXPRESSION_LENGTH_MAX} characters long` };
  if (recent.size >= RECENT_MAX) [older, recent] = [recent, new Map()];
  const compiled = older.get(text) ?? compileText(text);
  recent.set(text, compiled);
  return compiled;
}

export function isFault(outcome: unknown): outcome is ExpressionFault {
  return typeof outcome === "object" && outcome !== null && "fault" in outcome;
}

function compileText(text: string): Expression | ExpressionFault {
  try {
    const compilation: Compilation = { text, locals: new Map(), counts: { nodes: 0, locals: 0 }, usesAsync: false };
    const evaluate = compileNode(parseExpression(text), compilation);
    return expressionOf(text, evaluate, compilation.usesAsync);
  } catch (error) {
    return { fault: messageOf(error) };
  }
}

function expressionOf(text: string, compute: Evaluate, usesAsync: boolean): Expression {
  const valueFor = ({ event, async, nowMs }: ExpressionVariables): Value =>
    compute({ event: event as Value, async: async as Value | undefined, nowMs: nowMs ?? Date.now(), locals: [], costLeft: COST_MAX });
  return {
    text,
    usesAsync,
    evaluate(variables) {
      try {
        return { value: plain(valueFor(variables)) };
      } catch (error) {
        return { fault: messageOf(error) };
      }
    },
    matches(variables) {
      try {
        const value = valueFor(variables);
        return typeof value === "boolean" ? value : { fault: `true or false is needed, not ${kindOf(value)}` };
      } catch (error) {
        return { fault: messageOf(error) };
      }
    },
  };
}

/** Only a Fault and the parser's errors say something to a user; what the engine throws besides is a text or a stack too large. */
function messageOf(error: unknown): string {
  if (error instanceof Fault) return error.message;
  const { summary, range, message } = error as { summary?: string; range?: { start: number }; message: string };
  return summary === undefined ? message : `${summary}${range ? ` at character ${range.start + 1}` : ""}`;
}

function plain(value: Value): unknown {
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Span) return value.ms;
  if (isList(value)) return value.map(plain);
  if (isMap(value)) return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, plain(member)]));
  return value;
}
