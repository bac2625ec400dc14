/**
 * Evaluates the user's source once and finds the function in it: `transform`, or `handshake`. A source that has both `request` and `read` must
 * name them. The forms, in the order tried:
 *
 * 1. a script that defines it by its name: a function declaration, or a variable that holds a function
 * 2. a script whose value is a function: a lone arrow function
 * 3. a lone function expression, which only parses in parentheses: `function (evt) { … }`, or one with another name
 * 4. a module: `export default`, else an export of its name
 *
 * If none parses, the syntax error furthest into the source is reported, with its position in the original source.
 */

import type { EntryName, TransformFault } from "../transform-outcome.ts";
import { describeException, describeThrown, SOURCE_FILE } from "./describe-exception.ts";
import { type Guest, READ_AS } from "./guest.ts";
import type { Handle } from "./quickjs.ts";

export interface FoundTransform {
  handle: Handle;
  /** Lines inserted before the user's source, subtracted from positions in stack traces. */
  linesBefore: number;
}

export type FindResult = FoundTransform | { fault: TransformFault };

const OWN_FILE = "inlet";
const LOOKS_LIKE_MODULE = /\b(?:export|import)\b/;

export interface FindOptions {
  /** The name of the function to find. */
  entry: EntryName;
  memoryBytes: number;
}

export function findTransform(guest: Guest, source: string, options: FindOptions): FindResult {
  const { memoryBytes } = options;
  if (parses(guest, source)) return fromScript(guest, source, options);
  const faults = [describeException(guest, { memoryBytes, linesBefore: 0 })];
  const expression = inParentheses(source);
  if (parses(guest, expression)) {
    const found = isNamed(options.entry) ? null : fromExpression(guest, expression, memoryBytes);
    return found ?? { fault: noFunction(options.entry) };
  }
  faults.push(describeException(guest, { memoryBytes, linesBefore: 1 }));
  if (LOOKS_LIKE_MODULE.test(source)) {
    const result = fromModule(guest, source, options);
    if (!("fault" in result && result.fault.message.startsWith("SyntaxError"))) return result;
    faults.push(result.fault);
  }
  return { fault: furthest(faults, source.split("\n").length) };
}

function fromScript(guest: Guest, source: string, { entry, memoryBytes }: FindOptions): FindResult {
  const value = guest.evaluate(source, SOURCE_FILE, READ_AS.script);
  if (guest.isException(value)) return { fault: describeException(guest, { memoryBytes, linesBefore: 0 }) };
  const transform = guest.evaluate(`typeof ${entry} === "function" ? ${entry} : undefined`, OWN_FILE, READ_AS.script);
  // Reading a variable whose initialiser never ran throws.
  if (guest.isException(transform)) guest.takeException();
  if (guest.isFunction(transform)) return { handle: transform, linesBefore: 0 };
  if (isNamed(entry)) return { fault: noFunction(entry) };
  if (guest.isFunction(value)) return { handle: value, linesBefore: 0 };
  const expression = inParentheses(source);
  if (parses(guest, expression)) return fromExpression(guest, expression, memoryBytes) ?? { fault: noFunction(entry) };
  guest.takeException();
  return { fault: noFunction(entry) };
}

/** Null if its value is not a function. */
function fromExpression(guest: Guest, expression: string, memoryBytes: number): FindResult | null {
  const value = guest.evaluate(expression, SOURCE_FILE, READ_AS.script);
  if (guest.isException(value)) return { fault: describeException(guest, { memoryBytes, linesBefore: 1 }) };
  return guest.isFunction(value) ? { handle: value, linesBefore: 1 } : null;
}

function fromModule(guest: Guest, source: string, { entry, memoryBytes }: FindOptions): FindResult {
  const describe = { memoryBytes, linesBefore: 0 };
  const loading = guest.evaluate(source, SOURCE_FILE, READ_AS.module);
  if (guest.isException(loading)) return { fault: describeException(guest, describe) };
  guest.runJobs();
  const state = guest.promiseState(loading);
  if (state === "rejected") return { fault: describeThrown(guest, guest.promiseResult(loading), describe) };
  if (state === "pending") return { fault: noFunction(entry, "its top level waits for something that never happens") };
  const exports = guest.promiseResult(loading);
  for (const name of isNamed(entry) ? [entry] : ["default", entry]) {
    const exported = guest.property(exports, name);
    if (guest.isException(exported)) guest.takeException();
    else if (guest.isFunction(exported)) return { handle: exported, linesBefore: 0 };
  }
  return { fault: isNamed(entry) ? noFunction(entry) : noFunction(entry, "export a function as default") };
}

/** One of two functions of a source, which a lone function cannot be. */
function isNamed(entry: EntryName): boolean {
  return entry === "request" || entry === "read";
}

/** Leaves the syntax error pending if it does not. */
function parses(guest: Guest, source: string): boolean {
  return !guest.isException(guest.evaluate(source, SOURCE_FILE, READ_AS.scriptWithoutRunning));
}

function inParentheses(source: string): string {
  return `(\n${source.replace(/[;\s]+$/, "")}\n)`;
}

/** The form that parsed furthest is assumed to be the intended one. A position after the last line is in our own parenthesis. */
function furthest(faults: TransformFault[], lines: number): TransformFault {
  const reach = ({ line = 0, column = 0 }: TransformFault) => (line > lines ? 0 : line * 100_000 + column);
  return faults.reduce((best, fault) => (reach(fault) > reach(best) ? fault : best));
}

function noFunction(entry: EntryName, hint = `define a function named ${entry}`): TransformFault {
  return { code: "transform_failed", message: `no ${entry} function was found: ${hint}` };
}
