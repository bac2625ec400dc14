/**
 * Expressions that select stored events by their payload: the language of triggers, with `data`, `user`, `name`, `ts` and `v` for
 * `event.data` and so on. Unlike in a trigger, a comparison with a missing field, or one of another type, is false.
 *
 * The store receives this module instead of a function, because the embedded store reads on a separate thread.
 */

import type { CompileWhere } from "../store/contract/index.ts";
import type { Compilation } from "./cel/compilation.ts";
import { compileNode } from "./cel/compile.ts";
import { parseExpression } from "./cel/parse.ts";
import { COST_MAX, Fault, type Value } from "./cel/values.ts";
import { EXPRESSION_LENGTH_MAX } from "./expressions.ts";
import { eventValue } from "./waits.ts";

const ROOTS: ReadonlySet<string> = new Set(["data", "user", "name", "ts", "v"]);

export interface WhereFault {
  message: string;
  /** The position in the text, counted from 1. */
  position: number;
}

/** The fault of an expression, or null. */
export function checkWhere(text: string): WhereFault | null {
  if (text.length > EXPRESSION_LENGTH_MAX) {
    return { message: `is longer than ${EXPRESSION_LENGTH_MAX} characters`, position: EXPRESSION_LENGTH_MAX + 1 };
  }
  try {
    compileText(text);
    return null;
  } catch (error) {
    if (error instanceof Fault) return { message: `is not an expression: ${error.message}`, position: positionOf(text, error) };
    const { summary, range, message } = error as { summary?: string; range?: { start: number }; message: string };
    return { message: `is not an expression: ${summary ?? message}`, position: (range?.start ?? 0) + 1 };
  }
}

/** Throws the fault that `checkWhere` returns. An event does not match if the expression has no value for it, or one that is not a boolean. */
export const compileWhere: CompileWhere = (text) => {
  const compute = compileText(text);
  return (event) => {
    try {
      const scope = { event: eventValue(event) as Value, async: undefined, nowMs: Date.now(), locals: [], costLeft: COST_MAX };
      return compute(scope) === true;
    } catch (error) {
      if (error instanceof Fault || error instanceof RangeError) return false;
      throw error;
    }
  };
};

function compileText(text: string): ReturnType<typeof compileNode> {
  const compilation: Compilation = { text, locals: new Map(), counts: { nodes: 0, locals: 0 }, usesAsync: false, roots: ROOTS };
  return compileNode(parseExpression(text), compilation);
}

/** An invalid name, such as an unknown variable, is quoted at the end of the first part of the message. */
function positionOf(text: string, { message }: Fault): number {
  const name = /^unknown (?:variable|function) (\w+)/.exec(message)?.[1];
  return name === undefined ? 1 : Math.max(text.search(new RegExp(`\\b${name}\\b`)), 0) + 1;
}
