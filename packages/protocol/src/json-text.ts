/**
 * Finds the pieces of a JSON text without taking their values apart, so that what a client sent can be stored and
 * handed on as it was written: numbers beyond double precision, key order, duplicate keys, escapes.
 *
 * Every function expects text that `JSON.parse` has already accepted; on anything else the answer is meaningless.
 * Nothing here recurses: nesting costs no stack.
 */

const QUOTE = 0x22;
const COMMA = 0x2c;
const BRACKET_OPEN = 0x5b;
const BACKSLASH = 0x5c;
const BRACKET_CLOSE = 0x5d;
const BRACE_OPEN = 0x7b;
const BRACE_CLOSE = 0x7d;
const SPACE = 0x20;

/** A value's place in the text, and how deep its containers nest: 0 for a number, 1 for `{}`, 2 for `{"a":[]}`. */
export interface JsonSpan {
  start: number;
  end: number;
  depth: number;
}

export interface JsonMember extends JsonSpan {
  key: string;
}

/** The members of an object, in the order written, duplicates included. */
export function jsonMembers(text: string): JsonMember[] {
  const members: JsonMember[] = [];
  readMembers(text, skipSpace(text, 0), members);
  return members;
}

/** The members of each object of an array; null stands for an element that is no object. */
export function jsonElementsMembers(text: string): (JsonMember[] | null)[] {
  const elements: (JsonMember[] | null)[] = [];
  let at = skipSpace(text, skipSpace(text, 0) + 1);
  while (text.charCodeAt(at) !== BRACKET_CLOSE) {
    const members: JsonMember[] | null = text.charCodeAt(at) === BRACE_OPEN ? [] : null;
    const end = members ? readMembers(text, at, members) : spanAt(text, at).end;
    elements.push(members);
    at = afterComma(text, end);
  }
  return elements;
}

/** `{"a":1}` from members of another text, each value as it was written there. */
export function joinMembers(text: string, members: readonly JsonMember[]): string {
  return `{${members.map((member) => `${JSON.stringify(member.key)}:${text.slice(member.start, member.end)}`).join(",")}}`;
}

/** Fills `members` from the object that opens at `start`; returns the position after it. */
function readMembers(text: string, start: number, members: JsonMember[]): number {
  let at = skipSpace(text, start + 1);
  while (text.charCodeAt(at) !== BRACE_CLOSE) {
    const keyEnd = stringEnd(text, at);
    const key = keyText(text, at, keyEnd);
    const colon = skipSpace(text, keyEnd);
    const { start, end, depth } = spanAt(text, skipSpace(text, colon + 1));
    members.push({ key, start, end, depth });
    at = afterComma(text, end);
  }
  return at + 1;
}

function afterComma(text: string, from: number): number {
  const at = skipSpace(text, from);
  return text.charCodeAt(at) === COMMA ? skipSpace(text, at + 1) : at;
}

function spanAt(text: string, start: number): JsonSpan {
  const first = text.charCodeAt(start);
  if (first === BRACE_OPEN || first === BRACKET_OPEN) return containerAt(text, start);
  if (first === QUOTE) return { start, end: stringEnd(text, start), depth: 0 };
  let end = start + 1;
  while (isLiteralCharacter(text.charCodeAt(end))) end++;
  return { start, end, depth: 0 };
}

function containerAt(text: string, start: number): JsonSpan {
  let open = 0;
  let depth = 0;
  for (let at = start; ; at++) {
    const c = text.charCodeAt(at);
    if (c === QUOTE) at = stringEnd(text, at) - 1;
    else if (c === BRACE_OPEN || c === BRACKET_OPEN) {
      if (++open > depth) depth = open;
    } else if ((c === BRACE_CLOSE || c === BRACKET_CLOSE) && --open === 0) return { start, end: at + 1, depth };
  }
}

/** The position after the closing quote of the string that opens at `start`. */
function stringEnd(text: string, start: number): number {
  let at = start + 1;
  for (let c = text.charCodeAt(at); c !== QUOTE; c = text.charCodeAt(at)) at += c === BACKSLASH ? 2 : 1;
  return at + 1;
}

/** Keys are compared by meaning: `"d\u0061ta"` is `data`. */
function keyText(text: string, start: number, end: number): string {
  const written = text.slice(start + 1, end - 1);
  return written.includes("\\") ? (JSON.parse(text.slice(start, end)) as string) : written;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (text.charCodeAt(at) <= SPACE) at++;
  return at;
}

/** Part of a number, `true`, `false` or `null`. False at the end of the text, where charCodeAt gives NaN. */
function isLiteralCharacter(c: number): boolean {
  return c > SPACE && c !== COMMA && c !== BRACE_CLOSE && c !== BRACKET_CLOSE;
}
