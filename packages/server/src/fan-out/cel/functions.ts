/**
 * The functions that expressions can call: those of CEL's standard library that make sense for JSON, and the string functions of
 * its usual extension. `matches` runs on RE2, as CEL requires: its time is linear in the text. The states of a pattern are charged, too.
 */

import { patternWork } from "@inlet/protocol";
import { RE2JS } from "re2js";
import type { CelFunction } from "./cel-function.ts";
import { TIME_FUNCTIONS } from "./time-functions.ts";
import { charge, fault, isList, isMap, isNumber, kindOf, type Scope, Span, type Value } from "./values.ts";

const PATTERN_LENGTH_MAX = 1_000;
const PATTERN_SIZE_MAX = 3_000;
/** Compiling one instruction of a pattern takes about as long as this many nodes. */
const COMPILE_COST = 50;
/** So many active states of a pattern take one unit for each character. */
const STATES_PER_UNIT = 8;

export interface Pattern {
  readonly compiled: RE2JS;
  /** For each character of a text. */
  readonly cost: number;
}

export const FUNCTIONS: ReadonlyMap<string, CelFunction> = new Map<string, CelFunction>(
  Object.entries({
    size: { plain: [1], method: [1], call: ([value = null], scope) => sizeOf(value, scope) },
    startsWith: { method: [2], call: ([text, start]) => textOf(text).startsWith(textOf(start)) },
    endsWith: { method: [2], call: ([text, end]) => textOf(text).endsWith(textOf(end)) },
    contains: { method: [2], call: ([text, piece], scope) => scanned(text, scope).includes(textOf(piece)) },
    matches: { plain: [2], method: [2], call: ([text, pattern], scope) => matchesComputed(textOf(text), textOf(pattern), scope) },
    lowerAscii: {
      method: [1],
      call: ([text], scope) => scanned(text, scope).replace(/[A-Z]+/g, (letters) => letters.toLowerCase()),
    },
    upperAscii: {
      method: [1],
      call: ([text], scope) => scanned(text, scope).replace(/[a-z]+/g, (letters) => letters.toUpperCase()),
    },
    // Inngest's additions to CEL, used by apps written for it.
    lowercase: { plain: [1], call: ([text], scope) => scanned(text, scope).toLowerCase() },
    uppercase: { plain: [1], call: ([text], scope) => scanned(text, scope).toUpperCase() },
    trim: { method: [1], call: ([text], scope) => scanned(text, scope).trim() },
    indexOf: { method: [2], call: ([text, piece], scope) => BigInt(scanned(text, scope).indexOf(textOf(piece))) },
    lastIndexOf: { method: [2], call: ([text, piece], scope) => BigInt(scanned(text, scope).lastIndexOf(textOf(piece))) },
    substring: { method: [2, 3], call: ([text, from, to]) => substring(textOf(text), from, to) },
    replace: { method: [3], call: ([text, from, to], scope) => replaceAll(textOf(text), textOf(from), textOf(to), scope) },
    split: { method: [2], call: ([text, separator], scope) => split(textOf(text), textOf(separator), scope) },
    join: { method: [1, 2], call: ([list, separator = ""], scope) => join(list, textOf(separator), scope) },
    string: { plain: [1], call: ([value = null]) => toText(value) },
    int: { plain: [1], call: ([value = null]) => toInt(value) },
    uint: { plain: [1], call: ([value = null]) => notNegative(toInt(value)) },
    double: { plain: [1], call: ([value = null]) => toDouble(value) },
    bool: { plain: [1], call: ([value = null]) => toBoolean(value) },
    dyn: { plain: [1], call: ([value = null]) => value },
    ...TIME_FUNCTIONS,
  } satisfies Record<string, CelFunction>),
);

/** Throws a Fault if RE2 does not accept it. */
export function compilePattern(pattern: string): Pattern {
  if (pattern.length > PATTERN_LENGTH_MAX) fault(`a regular expression is at most ${PATTERN_LENGTH_MAX} characters long`);
  const { size, width } = patternWork(pattern);
  if (size > PATTERN_SIZE_MAX) fault("a regular expression must not repeat its parts so often");
  try {
    const compiled = RE2JS.compile(pattern);
    return { compiled, cost: Math.ceil(Math.min(width, compiled.programSize()) / STATES_PER_UNIT) };
  } catch (error) {
    return fault(`"${pattern}" is not a valid RE2 regular expression: ${error instanceof Error ? error.message : error}`);
  }
}

/** RE2 takes time in proportion to the text times the number of states that may be active at once. */
export function matches(text: string, { compiled, cost }: Pattern, scope: Scope): boolean {
  charge(scope, text.length * cost);
  return compiled.test(text);
}

/** A pattern that is not written in the expression is compiled each time. */
function matchesComputed(text: string, pattern: string, scope: Scope): boolean {
  if (pattern.length <= PATTERN_LENGTH_MAX) charge(scope, Math.min(patternWork(pattern).size, PATTERN_SIZE_MAX) * COMPILE_COST);
  return matches(text, compilePattern(pattern), scope);
}

export function textOf(value: Value | undefined): string {
  return typeof value === "string" ? value : fault(`a string is needed, not ${kindOf(value ?? null)}`);
}

/** A text that a function reads completely. */
function scanned(value: Value | undefined, scope: Scope): string {
  const text = textOf(value);
  charge(scope, text.length >> 6);
  return text;
}

/** Strings are measured in code points, as CEL specifies. */
function sizeOf(value: Value, scope: Scope): bigint {
  if (typeof value === "string") {
    charge(scope, value.length >> 4);
    let points = value.length;
    for (let i = 1; i < value.length; i++) if (isLow(value.charCodeAt(i)) && isHigh(value.charCodeAt(i - 1))) points--;
    return BigInt(points);
  }
  if (isList(value)) return BigInt(value.length);
  return isMap(value) ? BigInt(Object.keys(value).length) : fault(`size() needs a string, a list or an object, not ${kindOf(value)}`);
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

function substring(text: string, from: Value | undefined, to: Value | undefined): string {
  const start = Number(toInt(from ?? null));
  const end = to === undefined ? text.length : Number(toInt(to));
  return start >= 0 && start <= end && end <= text.length ? text.slice(start, end) : fault("substring() reaches beyond the string");
}

function replaceAll(text: string, from: string, to: string, scope: Scope): string {
  // An empty `from` matches before every character.
  charge(scope, text.length * (to.length + 1));
  return text.replaceAll(from, () => to);
}

function split(text: string, separator: string, scope: Scope): Value {
  charge(scope, text.length);
  return text.split(separator);
}

function join(list: Value | undefined, separator: string, scope: Scope): string {
  if (list === undefined || !isList(list)) return fault(`join() needs a list, not ${kindOf(list ?? null)}`);
  charge(scope, list.length);
  return list.map((element) => textOf(element)).join(separator);
}

function toText(value: Value): string {
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Span) return `${value.ms / 1_000}s`;
  if (typeof value === "object") return fault(`string() cannot convert ${kindOf(value)}`);
  return String(value);
}

function toInt(value: Value): bigint {
  if (typeof value === "bigint") return value;
  if (typeof value === "number" && Math.abs(value) < 2 ** 63) return BigInt(Math.trunc(value));
  if (typeof value === "string" && /^-?\d{1,18}$/.test(value)) return BigInt(value);
  return value instanceof Date ? BigInt(Math.floor(value.getTime() / 1_000)) : fault(`int() cannot convert ${shown(value)}`);
}

function notNegative(value: bigint): bigint {
  return value < 0n ? fault("uint() cannot convert a negative number") : value;
}

function toDouble(value: Value): number {
  if (isNumber(value)) return Number(value);
  if (typeof value === "string" && value.trim() === value && value !== "" && !Number.isNaN(Number(value))) return Number(value);
  return fault(`double() cannot convert ${shown(value)}`);
}

function toBoolean(value: Value): boolean {
  if (typeof value === "boolean") return value;
  if (value === "true") return true;
  return value === "false" ? false : fault(`bool() cannot convert ${shown(value)}`);
}

function shown(value: Value): string {
  return typeof value === "string" ? JSON.stringify(value.slice(0, 50)) : kindOf(value);
}
