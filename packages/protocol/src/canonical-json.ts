/**
 * JSON text in canonical form (RFC 8785): no white space, members sorted by key, numbers as ECMAScript writes them, the fewest escapes.
 * Calls to functions are signed over it, because an SDK whose framework has parsed the body serialises it again before verification.
 *
 * Converts text to text. A value that is already canonical is copied as a whole, and no object is created: V8 13.6 can
 * confuse escaped keys there. Nesting costs no stack.
 */

import { canonicalNumber } from "./canonical-number.ts";
import {
  BRACE_CLOSE,
  BRACE_OPEN,
  BRACKET_CLOSE,
  BRACKET_OPEN,
  COLON,
  COMMA,
  type CodeUnits,
  plainIntegerEnd,
  plainStringEnd,
  QUOTE,
  scalarEnd,
  skipSpace,
  stringEnd,
} from "./json-tokens.ts";

export interface CanonicalOptions {
  /**
   * Whether a number that a double cannot represent, such as 12345678901234567890, keeps its digits; otherwise it is rounded, as any
   * JavaScript reader would. A number beyond all doubles, such as 1e400, is always kept as written.
   */
  exactNumbers: boolean;
}

/** A container that is still open. */
interface Frame {
  isObject: boolean;
  start: number;
  /** So far it is canonical as written in the text. */
  isAsWritten: boolean;
  isSorted: boolean;
  /** Its elements or members in canonical form, `1` or `"a":1`; null: as it stands between the two marks of that number. */
  parts: (string | null)[];
  marks: number[];
  keys: string[];
  /** Of the member being read: where its key starts, and its text up to the value if that differs from the original. */
  keyStart: number;
  keyText: string | null;
}

/** The text's code units, then a 0, which ends any token. One array is reused for all calls. */
let scratch = new Uint16Array(16_384);
const SCRATCH_UNITS_MAX = 1_048_576;

/** Throws a TypeError if the text is not JSON. */
export function canonicalJson(text: string, { exactNumbers }: CanonicalOptions): string {
  const units = unitsOf(text);
  const open: Frame[] = [];
  let around: Frame | undefined;
  let at = skipSpace(units, 0);
  for (;;) {
    let start = at;
    // Null: as written between start and at.
    let value: string | null = null;
    const c = units[at] as number;
    if (c === BRACE_OPEN || c === BRACKET_OPEN) {
      const frame = openFrame(c === BRACE_OPEN, at);
      at = inside(units, at + 1, frame);
      if (units[at] !== closing(frame)) {
        if (frame.isObject) at = readKey(text, units, at, frame);
        open.push(frame);
        around = frame;
        continue;
      }
      at++;
      if (!frame.isAsWritten) value = frame.isObject ? "{}" : "[]";
    } else {
      at = c === QUOTE ? plainStringEnd(units, at) : plainIntegerEnd(units, at);
      if (at < 0) {
        at = scalarEnd(units, start);
        if (at < 0) throw notJson(start);
        value = canonicalScalar(text.slice(start, at), c, exactNumbers);
      }
    }
    // After a value: close what ends here, up to the comma before the next value.
    for (;;) {
      if (!around) {
        if (skipSpace(units, at) !== text.length) throw notJson(at);
        return value ?? text.slice(start, at);
      }
      addPart(text, around, start, at, value);
      at = inside(units, at, around);
      const next = units[at];
      if (next === COMMA) {
        at = inside(units, at + 1, around);
        if (around.isObject) at = readKey(text, units, at, around);
        break;
      }
      if (next !== closing(around)) throw notJson(at);
      at++;
      start = around.start;
      value = around.isAsWritten ? null : written(text, around);
      open.pop();
      around = open[open.length - 1];
    }
  }
}

function unitsOf(text: string): CodeUnits {
  const { length } = text;
  if (length >= scratch.length || scratch.length > SCRATCH_UNITS_MAX) scratch = new Uint16Array(Math.max(16_384, length + 1));
  const units = scratch;
  for (let i = 0; i < length; i++) units[i] = text.charCodeAt(i);
  units[length] = 0;
  return units;
}

const NO_KEYS: string[] = [];

function openFrame(isObject: boolean, start: number): Frame {
  return {
    isObject,
    start,
    isAsWritten: true,
    isSorted: true,
    parts: [],
    marks: [],
    keys: isObject ? [] : NO_KEYS,
    keyStart: 0,
    keyText: null,
  };
}

function closing({ isObject }: Frame): number {
  return isObject ? BRACE_CLOSE : BRACKET_CLOSE;
}

/** Skips white space, which is not canonical. */
function inside(units: CodeUnits, from: number, frame: Frame): number {
  if ((units[from] as number) > 0x20) return from;
  const at = skipSpace(units, from);
  if (at !== from) frame.isAsWritten = false;
  return at;
}

/** Skips a key and its colon, to the value. */
function readKey(text: string, units: CodeUnits, start: number, frame: Frame): number {
  let end = plainStringEnd(units, start);
  const isPlain = end > 0;
  if (!isPlain) end = stringEnd(units, start);
  if (end < 0) throw notJson(start);
  const key = isPlain ? text.slice(start + 1, end - 1) : (JSON.parse(text.slice(start, end)) as string);
  const { keys } = frame;
  // Not greater than the previous one: needs sorting, or is a duplicate.
  if (keys.length > 0 && key <= (keys[keys.length - 1] as string)) frame.isSorted = frame.isAsWritten = false;
  keys.push(key);
  const colon = inside(units, end, frame);
  if (units[colon] !== COLON) throw notJson(colon);
  const at = inside(units, colon + 1, frame);
  frame.keyStart = start;
  frame.keyText = isPlain && at === end + 1 ? null : `${isPlain ? text.slice(start, end) : JSON.stringify(key)}:`;
  if (!isPlain && frame.keyText !== text.slice(start, at)) frame.isAsWritten = false;
  return at;
}

function addPart(text: string, frame: Frame, start: number, end: number, value: string | null): void {
  const { isObject, keyText, keyStart } = frame;
  if (value !== null) frame.isAsWritten = false;
  frame.marks.push(isObject ? keyStart : start, end);
  if (value === null && keyText === null) frame.parts.push(null);
  else if (!isObject) frame.parts.push(value);
  else frame.parts.push((keyText ?? text.slice(keyStart, start)) + (value ?? text.slice(start, end)));
}

function canonicalScalar(token: string, first: number, exactNumbers: boolean): string | null {
  const isNumber = first === 0x2d /* - */ || (first >= 0x30 && first <= 0x39);
  // A string without escapes is canonical, except for a lone surrogate, which has no UTF-8 form and stays an escape.
  const canonical = first === QUOTE ? JSON.stringify(JSON.parse(token)) : isNumber ? canonicalNumber(token, exactNumbers) : token;
  return canonical === token ? null : canonical;
}

function written(text: string, { isObject, isSorted, keys, parts, marks }: Frame): string {
  const all = parts.map((part, i) => part ?? text.slice(marks[2 * i], marks[2 * i + 1]));
  if (!isObject) return `[${all.join(",")}]`;
  const members = isSorted ? all : sorted(keys, all);
  // Concatenation does not copy nested text, which `join` would do at every level.
  let joined = `{${members[0]}`;
  for (let i = 1; i < members.length; i++) joined += `,${members[i]}`;
  return `${joined}}`;
}

/** Of duplicate members, the last is used. */
function sorted(keys: readonly string[], parts: readonly string[]): string[] {
  const last = new Map(keys.map((key, i) => [key, parts[i] as string]));
  return [...last].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, part]) => part);
}

function notJson(at: number): TypeError {
  return new TypeError(`not JSON at character ${at + 1}`);
}
