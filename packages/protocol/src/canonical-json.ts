/**
 * JSON text in canonical form (RFC 8785): no white space, members sorted by key, numbers as ECMAScript writes them, the fewest escapes.
 * Calls to functions are signed over it, because an SDK whose framework has parsed the body serialises it again before verification.
 *
 * Converts text to text and creates no object: numbers may keep digits that a double has not, and V8 13.6 can confuse escaped keys.
 * Nesting costs no stack.
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
  codeUnitsOf,
  QUOTE,
  scalarEnd,
  skipSpace,
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
  /** Its elements; of an object, its members with their names, and the names alone. */
  parts: string[];
  keys: string[];
  /** Of the member being read: its name as written, and the colon. */
  keyText: string;
}

/** Throws a TypeError if the text is not JSON. */
export function canonicalJson(text: string, { exactNumbers }: CanonicalOptions): string {
  const units = codeUnitsOf(text);
  const open: Frame[] = [];
  let at = skipSpace(units, 0);
  for (;;) {
    let value: string;
    const first = units[at];
    if (first === BRACE_OPEN || first === BRACKET_OPEN) {
      const frame: Frame = { isObject: first === BRACE_OPEN, parts: [], keys: [], keyText: "" };
      at = skipSpace(units, at + 1);
      if (units[at] !== closing(frame)) {
        open.push(frame);
        at = toValue(text, units, at, frame);
        continue;
      }
      at++;
      value = written(frame);
    } else {
      const end = scalarEnd(units, at);
      if (end < 0) throw notJson(at);
      value = canonicalScalar(text.slice(at, end), exactNumbers);
      at = end;
    }
    // After a value: close what ends here, up to the comma before the next value.
    for (;;) {
      at = skipSpace(units, at);
      const around = open.at(-1);
      if (!around) {
        if (at !== text.length) throw notJson(at);
        return value;
      }
      around.parts.push(around.keyText + value);
      if (units[at] === COMMA) {
        at = toValue(text, units, skipSpace(units, at + 1), around);
        break;
      }
      if (units[at] !== closing(around)) throw notJson(at);
      at++;
      value = written(around);
      open.pop();
    }
  }
}

function closing({ isObject }: Frame): number {
  return isObject ? BRACE_CLOSE : BRACKET_CLOSE;
}

/** In an object, reads a key and its colon. */
function toValue(text: string, units: CodeUnits, start: number, frame: Frame): number {
  if (!frame.isObject) return start;
  const end = units[start] === QUOTE ? scalarEnd(units, start) : -1;
  if (end < 0) throw notJson(start);
  const keyText = canonicalString(text.slice(start, end));
  frame.keyText = `${keyText}:`;
  frame.keys.push(keyText.includes("\\") ? (JSON.parse(keyText) as string) : keyText.slice(1, -1));
  const colon = skipSpace(units, end);
  if (units[colon] !== COLON) throw notJson(colon);
  return skipSpace(units, colon + 1);
}

/** `true`, `false` and `null` are no numbers, and stay as written. */
function canonicalScalar(token: string, exactNumbers: boolean): string {
  return token.startsWith('"') ? canonicalString(token) : canonicalNumber(token, exactNumbers);
}

/** One without escapes is canonical, except for a lone surrogate, which has no UTF-8 form and stays an escape. */
function canonicalString(token: string): string {
  return token.includes("\\") || !token.isWellFormed() ? JSON.stringify(JSON.parse(token)) : token;
}

function written({ isObject, keys, parts }: Frame): string {
  const members = keys.every((key, i) => i === 0 || (keys[i - 1] as string) < key) ? parts : sorted(keys, parts);
  // Concatenation does not copy nested text, which `join` would do at every level.
  const inside = members.reduce((before, member, i) => (i === 0 ? member : `${before},${member}`), "");
  return isObject ? `{${inside}}` : `[${inside}]`;
}

/** Of duplicate members, the last is used. */
function sorted(keys: readonly string[], parts: readonly string[]): string[] {
  const last = new Map(keys.map((key, i) => [key, parts[i] as string]));
  return [...last].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, part]) => part);
}

function notJson(at: number): TypeError {
  return new TypeError(`not JSON at character ${at + 1}`);
}
