/**
 * The tokens of JSON, found in code units without creating values. A function that ends in `End` returns the position after the
 * token, or -1 if it is not JSON. Beyond the end of the text, an array of code units yields undefined, which matches no token.
 */

/** The value of charCodeAt at each position. */
export type CodeUnits = Uint8Array | Uint16Array;

export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const BRACKET_OPEN = 0x5b;
export const BACKSLASH = 0x5c;
export const BRACKET_CLOSE = 0x5d;
export const BRACE_OPEN = 0x7b;
export const BRACE_CLOSE = 0x7d;

const TRUE = Uint8Array.from([0x74, 0x72, 0x75, 0x65]);
const FALSE = Uint8Array.from([0x66, 0x61, 0x6c, 0x73, 0x65]);
const NULL = Uint8Array.from([0x6e, 0x75, 0x6c, 0x6c]);

export function scalarEnd(units: CodeUnits, start: number): number {
  const c = units[start] as number;
  if (c === QUOTE) return stringEnd(units, start);
  if (c === 0x74) return wordEnd(units, start, TRUE);
  if (c === 0x66) return wordEnd(units, start, FALSE);
  if (c === 0x6e) return wordEnd(units, start, NULL);
  return numberEnd(units, start);
}

export function stringEnd(units: CodeUnits, start: number): number {
  if ((units[start] as number) !== QUOTE) return -1;
  for (let at = start + 1; ; at++) {
    const c = units[at] as number;
    if (c === QUOTE) return at + 1;
    // Control characters, and the end of the text, where charCodeAt returns NaN.
    if (!(c >= 0x20)) return -1;
    if (c === BACKSLASH) {
      const escaped = units[++at] as number;
      if (escaped === 0x75 /* u */) {
        if (!isFourHex(units, at + 1)) return -1;
        at += 4;
      } else if (!isShortEscape(escaped)) return -1;
    }
  }
}

function wordEnd(units: CodeUnits, start: number, word: CodeUnits): number {
  for (let i = 0; i < word.length; i++) if (units[start + i] !== word[i]) return -1;
  return start + word.length;
}

/** `" \ / b f n r t` */
function isShortEscape(c: number): boolean {
  return c === QUOTE || c === BACKSLASH || c === 0x2f || c === 0x62 || c === 0x66 || c === 0x6e || c === 0x72 || c === 0x74;
}

function isFourHex(units: CodeUnits, start: number): boolean {
  for (let at = start; at < start + 4; at++) {
    const c = units[at] as number;
    const lower = c | 0x20;
    if (!isDigit(c) && !(lower >= 0x61 && lower <= 0x66)) return false;
  }
  return true;
}

function numberEnd(units: CodeUnits, start: number): number {
  let at = (units[start] as number) === 0x2d /* - */ ? start + 1 : start;
  if ((units[at] as number) === 0x30 /* 0 */) at++;
  else {
    at = digitsEnd(units, at);
    if (at < 0) return -1;
  }
  if ((units[at] as number) === 0x2e /* . */) {
    at = digitsEnd(units, at + 1);
    if (at < 0) return -1;
  }
  if (((units[at] as number) | 0x20) !== 0x65 /* e */) return at;
  const sign = units[at + 1] as number;
  return digitsEnd(units, sign === 0x2b || sign === 0x2d ? at + 2 : at + 1);
}

/** At least one digit. */
function digitsEnd(units: CodeUnits, start: number): number {
  let at = start;
  while (isDigit(units[at] as number)) at++;
  return at > start ? at : -1;
}

function isDigit(c: number): boolean {
  return c >= 0x30 && c <= 0x39;
}

export function skipSpace(units: CodeUnits, from: number): number {
  let at = from;
  while (at < units.length && isSpace(units[at] as number)) at++;
  return at;
}

function isSpace(c: number): boolean {
  return c === 0x20 || c === 0x0a || c === 0x0d || c === 0x09;
}

export function codeUnitsOf(text: string): Uint16Array {
  const units = new Uint16Array(text.length);
  for (let i = 0; i < text.length; i++) units[i] = text.charCodeAt(i);
  return units;
}
