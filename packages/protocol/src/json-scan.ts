/**
 * Checks that a text is JSON and finds the members of its objects, in one pass and without making values, so that what a client
 * sent can be stored and handed on as it was written: numbers beyond double precision, key order, duplicate keys, escapes.
 *
 * JSON.parse makes every object, array and string of a text: measured, 2.1 µs for an event of 300 bytes, and 1.2 µs more to
 * find its fields; this does both in 1.3 to 2 µs, and leaves no garbage. It takes for JSON exactly what JSON.parse takes for
 * an object or an array; what is wrong with other texts is for JSON.parse to say.
 */

/** A value's place in the text, and how deep its containers nest: 0 for a number, 1 for `{}`, 2 for `{"a":[]}`. */
export interface JsonMember {
  key: string;
  start: number;
  end: number;
  depth: number;
}

/**
 * One object, or an array whose elements are objects (their members) or something else (null). Members come in the order
 * written, those given twice twice.
 */
export type ScannedJson = { object: JsonMember[] } | { elements: (JsonMember[] | null)[] };

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BRACKET_OPEN = 0x5b;
const BACKSLASH = 0x5c;
const BRACKET_CLOSE = 0x5d;
const BRACE_OPEN = 0x7b;
const BRACE_CLOSE = 0x7d;

/** Which of the open containers are objects. Nothing here is re-entered, so one stack serves all; it grows as it must. */
let openObjects = new Uint8Array(1_024);
/** How deep the containers of the value scanned last went. */
let deepest = 0;

/** Null when the text is not JSON, or neither an object nor an array. */
export function scanJson(text: string): ScannedJson | null {
  const start = skipSpace(text, 0);
  const opening = text.charCodeAt(start);
  if (opening === BRACE_OPEN) {
    const object: JsonMember[] = [];
    return isAtEnd(text, membersEnd(text, start, object)) ? { object } : null;
  }
  if (opening !== BRACKET_OPEN) return null;
  const elements: (JsonMember[] | null)[] = [];
  return isAtEnd(text, elementsEnd(text, start, elements)) ? { elements } : null;
}

/** The members of an object's text. */
export function jsonMembers(text: string): JsonMember[] {
  const scanned = scanJson(text);
  if (!scanned || !("object" in scanned)) throw new TypeError("not the text of a JSON object");
  return scanned.object;
}

/** `{"a":1}` from members of another text, each value as it was written there. */
export function joinMembers(text: string, members: readonly JsonMember[]): string {
  return `{${members.map((member) => `${JSON.stringify(member.key)}:${text.slice(member.start, member.end)}`).join(",")}}`;
}

/** From here on a function that ends in `End` returns the position after what it read, or -1 when that is not JSON. */
function elementsEnd(text: string, start: number, elements: (JsonMember[] | null)[]): number {
  let at = skipSpace(text, start + 1);
  if (text.charCodeAt(at) === BRACKET_CLOSE) return at + 1;
  for (;;) {
    const members: JsonMember[] | null = text.charCodeAt(at) === BRACE_OPEN ? [] : null;
    at = members ? membersEnd(text, at, members) : valueEnd(text, at);
    if (at < 0) return -1;
    elements.push(members);
    at = skipSpace(text, at);
    const next = text.charCodeAt(at);
    if (next === BRACKET_CLOSE) return at + 1;
    if (next !== COMMA) return -1;
    at = skipSpace(text, at + 1);
  }
}

function membersEnd(text: string, start: number, members: JsonMember[]): number {
  let at = skipSpace(text, start + 1);
  if (text.charCodeAt(at) === BRACE_CLOSE) return at + 1;
  for (;;) {
    const keyEnd = stringEnd(text, at);
    if (keyEnd < 0) return -1;
    const key = keyText(text, at, keyEnd);
    const valueStart = afterColon(text, keyEnd);
    if (valueStart < 0) return -1;
    const end = valueEnd(text, valueStart);
    if (end < 0) return -1;
    members.push({ key, start: valueStart, end, depth: deepest });
    at = skipSpace(text, end);
    const next = text.charCodeAt(at);
    if (next === BRACE_CLOSE) return at + 1;
    if (next !== COMMA) return -1;
    at = skipSpace(text, at + 1);
  }
}

function valueEnd(text: string, start: number): number {
  const opening = text.charCodeAt(start);
  deepest = 0;
  return opening === BRACE_OPEN || opening === BRACKET_OPEN ? containerEnd(text, start) : scalarEnd(text, start);
}

/** Walks through containers in containers without calling itself: nesting costs no stack. */
function containerEnd(text: string, start: number): number {
  let depth = 0;
  let at = start;
  for (;;) {
    const c = text.charCodeAt(at);
    if (c === BRACE_OPEN || c === BRACKET_OPEN) {
      if (depth === openObjects.length) openObjects = grown(openObjects);
      openObjects[depth++] = c === BRACE_OPEN ? 1 : 0;
      if (depth > deepest) deepest = depth;
      at = skipSpace(text, at + 1);
      const isEmpty = text.charCodeAt(at) === (c === BRACE_OPEN ? BRACE_CLOSE : BRACKET_CLOSE);
      if (!isEmpty) {
        if (c === BRACE_OPEN) at = afterKey(text, at);
        if (at < 0) return -1;
        continue;
      }
    } else {
      at = scalarEnd(text, at);
      if (at < 0) return -1;
    }
    // Behind a value: close what ends here, up to the comma before the next value.
    for (at = skipSpace(text, at); text.charCodeAt(at) !== COMMA; at = skipSpace(text, at + 1)) {
      if (text.charCodeAt(at) !== (openObjects[depth - 1] === 1 ? BRACE_CLOSE : BRACKET_CLOSE)) return -1;
      if (--depth === 0) return at + 1;
    }
    at = skipSpace(text, at + 1);
    if (openObjects[depth - 1] === 1) at = afterKey(text, at);
    if (at < 0) return -1;
  }
}

function grown(stack: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(stack.length * 4);
  larger.set(stack);
  return larger;
}

/** Past a key and its colon. */
function afterKey(text: string, start: number): number {
  const end = stringEnd(text, start);
  return end < 0 ? -1 : afterColon(text, end);
}

function afterColon(text: string, start: number): number {
  const at = skipSpace(text, start);
  return text.charCodeAt(at) === COLON ? skipSpace(text, at + 1) : -1;
}

function scalarEnd(text: string, start: number): number {
  const c = text.charCodeAt(start);
  if (c === QUOTE) return stringEnd(text, start);
  if (c === 0x74) return text.startsWith("true", start) ? start + 4 : -1;
  if (c === 0x66) return text.startsWith("false", start) ? start + 5 : -1;
  if (c === 0x6e) return text.startsWith("null", start) ? start + 4 : -1;
  return numberEnd(text, start);
}

function stringEnd(text: string, start: number): number {
  if (text.charCodeAt(start) !== QUOTE) return -1;
  for (let at = start + 1; ; at++) {
    const c = text.charCodeAt(at);
    if (c === QUOTE) return at + 1;
    // Control characters, and the end of the text, where charCodeAt gives NaN.
    if (!(c >= 0x20)) return -1;
    if (c === BACKSLASH) {
      const escaped = text.charCodeAt(++at);
      if (escaped === 0x75 /* u */) {
        if (!isFourHex(text, at + 1)) return -1;
        at += 4;
      } else if (!isShortEscape(escaped)) return -1;
    }
  }
}

/** `" \ / b f n r t` */
function isShortEscape(c: number): boolean {
  return c === QUOTE || c === BACKSLASH || c === 0x2f || c === 0x62 || c === 0x66 || c === 0x6e || c === 0x72 || c === 0x74;
}

function isFourHex(text: string, start: number): boolean {
  for (let at = start; at < start + 4; at++) {
    const c = text.charCodeAt(at);
    const lower = c | 0x20;
    if (!isDigit(c) && !(lower >= 0x61 && lower <= 0x66)) return false;
  }
  return true;
}

function numberEnd(text: string, start: number): number {
  let at = text.charCodeAt(start) === 0x2d /* - */ ? start + 1 : start;
  if (text.charCodeAt(at) === 0x30 /* 0 */) at++;
  else {
    at = digitsEnd(text, at);
    if (at < 0) return -1;
  }
  if (text.charCodeAt(at) === 0x2e /* . */) {
    at = digitsEnd(text, at + 1);
    if (at < 0) return -1;
  }
  if ((text.charCodeAt(at) | 0x20) !== 0x65 /* e */) return at;
  const sign = text.charCodeAt(at + 1);
  return digitsEnd(text, sign === 0x2b || sign === 0x2d ? at + 2 : at + 1);
}

/** At least one digit. */
function digitsEnd(text: string, start: number): number {
  let at = start;
  while (isDigit(text.charCodeAt(at))) at++;
  return at > start ? at : -1;
}

function isDigit(c: number): boolean {
  return c >= 0x30 && c <= 0x39;
}

/** Keys are compared by meaning: `"d\u0061ta"` is `data`. */
function keyText(text: string, start: number, end: number): string {
  const written = text.slice(start + 1, end - 1);
  return written.includes("\\") ? (JSON.parse(text.slice(start, end)) as string) : written;
}

function isAtEnd(text: string, at: number): boolean {
  return at >= 0 && skipSpace(text, at) === text.length;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  for (let c = text.charCodeAt(at); c === 0x20 || c === 0x0a || c === 0x0d || c === 0x09; c = text.charCodeAt(at)) at++;
  return at;
}
