/**
 * Checks that a text is JSON and finds the members of its objects, in one pass and without creating values, so that what a client
 * sent can be stored and passed on as written: numbers beyond double precision, key order, duplicate keys, escapes.
 *
 * JSON.parse would create every object, array and string of the text. This creates none. It accepts exactly the texts that
 * JSON.parse reads as an object or an array; for other texts, JSON.parse provides the error message.
 */

import {
  BRACE_CLOSE,
  BRACE_OPEN,
  BRACKET_CLOSE,
  BRACKET_OPEN,
  COLON,
  COMMA,
  type CodeUnits,
  codeUnitsOf,
  scalarEnd,
  skipSpace,
  stringEnd,
} from "./json-tokens.ts";

export type { CodeUnits } from "./json-tokens.ts";

/** The position of a value in the text, and its nesting depth: 0 for a number, 1 for `{}`, 2 for `{"a":[]}`. */
export interface JsonMember {
  key: string;
  start: number;
  end: number;
  depth: number;
}

/**
 * One object, or an array whose elements are objects (their members) or something else (null). Members are in the order
 * written, including duplicates.
 */
export type ScannedJson = { object: JsonMember[] } | { elements: (JsonMember[] | null)[] };

/** Which of the open containers are objects. The scanner is not re-entrant, so one stack is shared; it grows on demand. */
let openObjects = new Uint8Array(1_024);
/** The nesting depth of the value scanned last. */
let deepest = 0;

/**
 * Null if the text is not JSON, or neither an object nor an array. `units` are the text's code units, if available: the
 * bytes of an ASCII body. Reading them from an array is faster than charCodeAt.
 */
export function scanJson(text: string, units: CodeUnits = codeUnitsOf(text)): ScannedJson | null {
  const start = skipSpace(units, 0);
  const opening = units[start] as number;
  if (opening === BRACE_OPEN) {
    const object: JsonMember[] = [];
    return isAtEnd(units, membersEnd(text, units, start, object)) ? { object } : null;
  }
  if (opening !== BRACKET_OPEN) return null;
  const elements: (JsonMember[] | null)[] = [];
  return isAtEnd(units, elementsEnd(text, units, start, elements)) ? { elements } : null;
}

/** The members of an object's text. */
export function jsonMembers(text: string): JsonMember[] {
  const scanned = scanJson(text);
  if (!scanned || !("object" in scanned)) throw new TypeError("not the text of a JSON object");
  return scanned.object;
}

/** The members of an object's text, or the elements of an array's, whose `key` is null. */
export function jsonEntries(text: string): { key: string | null; start: number; end: number }[] {
  const units = codeUnitsOf(text);
  const start = skipSpace(units, 0);
  if (units[start] !== BRACKET_OPEN) return jsonMembers(text);
  const entries: ReturnType<typeof jsonEntries> = [];
  let at = skipSpace(units, start + 1);
  if (units[at] === BRACKET_CLOSE) return entries;
  for (;;) {
    const end = valueEnd(units, at);
    if (end < 0) throw new TypeError("not the text of a JSON array");
    entries.push({ key: null, start: at, end });
    at = skipSpace(units, end);
    if (units[at] === BRACKET_CLOSE) return entries;
    if (units[at] !== COMMA) throw new TypeError("not the text of a JSON array");
    at = skipSpace(units, at + 1);
  }
}

/** `{"a":1}` from members of another text, each value as written there. */
export function joinMembers(text: string, members: readonly JsonMember[]): string {
  return `{${members.map((member) => `${JSON.stringify(member.key)}:${text.slice(member.start, member.end)}`).join(",")}}`;
}

function elementsEnd(text: string, units: CodeUnits, start: number, elements: (JsonMember[] | null)[]): number {
  let at = skipSpace(units, start + 1);
  if ((units[at] as number) === BRACKET_CLOSE) return at + 1;
  for (;;) {
    const members: JsonMember[] | null = (units[at] as number) === BRACE_OPEN ? [] : null;
    at = members ? membersEnd(text, units, at, members) : valueEnd(units, at);
    if (at < 0) return -1;
    elements.push(members);
    at = skipSpace(units, at);
    const next = units[at] as number;
    if (next === BRACKET_CLOSE) return at + 1;
    if (next !== COMMA) return -1;
    at = skipSpace(units, at + 1);
  }
}

function membersEnd(text: string, units: CodeUnits, start: number, members: JsonMember[]): number {
  let at = skipSpace(units, start + 1);
  if ((units[at] as number) === BRACE_CLOSE) return at + 1;
  for (;;) {
    const keyEnd = stringEnd(units, at);
    if (keyEnd < 0) return -1;
    const key = keyText(text, at, keyEnd);
    const valueStart = afterColon(units, keyEnd);
    if (valueStart < 0) return -1;
    const end = valueEnd(units, valueStart);
    if (end < 0) return -1;
    members.push({ key, start: valueStart, end, depth: deepest });
    at = skipSpace(units, end);
    const next = units[at] as number;
    if (next === BRACE_CLOSE) return at + 1;
    if (next !== COMMA) return -1;
    at = skipSpace(units, at + 1);
  }
}

function valueEnd(units: CodeUnits, start: number): number {
  const opening = units[start] as number;
  deepest = 0;
  return opening === BRACE_OPEN || opening === BRACKET_OPEN ? containerEnd(units, start) : scalarEnd(units, start);
}

/** Scans nested containers without recursion: nesting costs no stack. */
function containerEnd(units: CodeUnits, start: number): number {
  let depth = 0;
  let at = start;
  for (;;) {
    const c = units[at] as number;
    if (c === BRACE_OPEN || c === BRACKET_OPEN) {
      if (depth === openObjects.length) openObjects = grown(openObjects);
      openObjects[depth++] = c === BRACE_OPEN ? 1 : 0;
      if (depth > deepest) deepest = depth;
      at = skipSpace(units, at + 1);
      const isEmpty = (units[at] as number) === (c === BRACE_OPEN ? BRACE_CLOSE : BRACKET_CLOSE);
      if (!isEmpty) {
        if (c === BRACE_OPEN) at = afterKey(units, at);
        if (at < 0) return -1;
        continue;
      }
    } else {
      at = scalarEnd(units, at);
      if (at < 0) return -1;
    }
    // After a value: close what ends here, up to the comma before the next value.
    for (at = skipSpace(units, at); (units[at] as number) !== COMMA; at = skipSpace(units, at + 1)) {
      if ((units[at] as number) !== (openObjects[depth - 1] === 1 ? BRACE_CLOSE : BRACKET_CLOSE)) return -1;
      if (--depth === 0) return at + 1;
    }
    at = skipSpace(units, at + 1);
    if (openObjects[depth - 1] === 1) at = afterKey(units, at);
    if (at < 0) return -1;
  }
}

function grown(stack: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(stack.length * 4);
  larger.set(stack);
  return larger;
}

/** Skips a key and its colon. */
function afterKey(units: CodeUnits, start: number): number {
  const end = stringEnd(units, start);
  return end < 0 ? -1 : afterColon(units, end);
}

function afterColon(units: CodeUnits, start: number): number {
  const at = skipSpace(units, start);
  return (units[at] as number) === COLON ? skipSpace(units, at + 1) : -1;
}

/** Keys are compared after unescaping: `"d\u0061ta"` is `data`. */
function keyText(text: string, start: number, end: number): string {
  const written = text.slice(start + 1, end - 1);
  return written.includes("\\") ? (JSON.parse(text.slice(start, end)) as string) : written;
}

function isAtEnd(units: CodeUnits, at: number): boolean {
  return at >= 0 && skipSpace(units, at) === units.length;
}
