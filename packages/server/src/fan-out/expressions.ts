/**
 * Expressions of triggers, waits, cancellations and flow control: CEL over `event` and, where an event is awaited, `async`.
 * Compiling and evaluating never throw: errors are returned as sentences. An expression that has no value for an event, because a
 * field is missing or types do not match, does not match it; only == and != accept a missing field, as null. The work of one
 * evaluation is bounded, including regular expressions.
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
  /** The event that arrived, for waits. */
  async?: EventValue;
  /** The result of `now()`. */
  nowMs?: number;
}

export interface ExpressionFault {
  fault: string;
}

export interface Expression {
  readonly text: string;
  /** Only waits and cancellations have `async`. */
  readonly usesAsync: boolean;
  /** A JSON value: whole numbers are numbers, timestamps their ISO text, durations milliseconds. */
  evaluate(variables: ExpressionVariables): { value: unknown } | ExpressionFault;
  /** Also a fault if the value is neither true nor false. */
  matches(variables: ExpressionVariables): boolean | ExpressionFault;
}

/**
 * A cache of compiled expressions by text, including faults: a registration is checked, stored and read again. Used entries move to
 * `recent`; when that is full, it becomes `older`, and the previous `older` is dropped. Two maps, because moving an entry to the end
 * of one map is slower.
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
    return compileOrThrow(text);
  } catch (error) {
    return { fault: messageOf(error) };
  }
}

/** Throws a Fault, or the parser's error. `roots` are fields of the event that can be written without `event.`. */
export function compileOrThrow(text: string, roots?: ReadonlySet<string>): Expression {
  const compilation: Compilation = { text, locals: new Map(), counts: { nodes: 0, locals: 0 }, usesAsync: false, roots };
  const evaluate = compileNode(parseExpression(text), compilation);
  return expressionOf(text, evaluate, compilation.usesAsync);
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

/** Only a Fault and the parser's errors are meaningful to users; other errors mean that the text is too long or too deep. */
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
