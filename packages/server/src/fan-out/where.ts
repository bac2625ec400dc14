/**
 * Expressions that select stored events by their payload: the language of triggers, with `data`, `user`, `name`, `ts` and `v` for
 * `event.data` and so on. An expression selects exactly the events that a trigger with it would start.
 *
 * The store receives this module instead of a function, because the embedded store reads on a separate thread.
 */

import type { CompileWhere } from "../store/contract/index.ts";
import { Fault } from "./cel/values.ts";
import { compileOrThrow, EXPRESSION_LENGTH_MAX } from "./expressions.ts";
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
    compileOrThrow(text, ROOTS);
    return null;
  } catch (error) {
    if (error instanceof Fault) return { message: `is not an expression: ${error.message}`, position: positionOf(text, error) };
    const { summary, range, message } = error as { summary?: string; range?: { start: number }; message: string };
    return { message: `is not an expression: ${summary ?? message}`, position: (range?.start ?? 0) + 1 };
  }
}

/** Throws the fault that `checkWhere` returns. An event does not match if the expression has no value for it, or one that is not a boolean. */
export const compileWhere: CompileWhere = (text) => {
  const expression = compileOrThrow(text, ROOTS);
  return (event) => expression.matches({ event: eventValue(event) }) === true;
};

/** An invalid name, such as an unknown variable, is quoted at the end of the first part of the message. */
function positionOf(text: string, { message }: Fault): number {
  const name = /^unknown (?:variable|function) (\w+)/.exec(message)?.[1];
  return name === undefined ? 1 : Math.max(text.search(new RegExp(`\\b${name}\\b`)), 0) + 1;
}
