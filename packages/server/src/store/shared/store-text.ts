/**
 * Text is an arbitrary JavaScript string, but databases store UTF-8: a lone surrogate would be replaced, which would make different ids
 * equal, and PostgreSQL refuses NUL. Each such character is written as an escape character, U+FDD0, followed by its code in four
 * hexadecimal digits, and so is the escape character itself. Each stored text therefore represents exactly one string, prefixes stay
 * prefixes, and any text without these characters, JSON too, is stored unchanged.
 *
 * Both engines apply this to every value they bind and every row they read: `sqlite/text-database.ts` and `postgres/text-client.ts`. No
 * other code of the store escapes text.
 */

/** A noncharacter: Unicode reserves it for internal use. */
const ESCAPE = "\uFDD0";
const ESCAPED = /\uFDD0([0-9a-f]{4})/g;

export function toStoreText(text: string): string {
  if (text.isWellFormed() && !text.includes("\0") && !text.includes(ESCAPE)) return text;
  // Without the `u` flag, pairs would be split; \p{Cs} matches only unpaired surrogates.
  return text.replace(/[\0\uFDD0\p{Cs}]/gu, (c) => escaped(c.charCodeAt(0).toString(16).padStart(4, "0")));
}

export function fromStoreText(text: string): string {
  if (!text.includes(ESCAPE)) return text;
  return text.replace(ESCAPED, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** The value as JSON whose strings are store text. `JSON.stringify` writes NUL and lone surrogates, and no paired ones, as `\uXXXX`. */
export function toStoreJson(value: unknown): string {
  const text = JSON.stringify(value);
  if (!text.includes("\\u") && !text.includes(ESCAPE)) return text;
  return text.replace(/\uFDD0|\\(?:u(0000|d[89a-f][0-9a-f]{2})|.)/g, (found, hex?: string) => {
    if (found === ESCAPE) return escaped("fdd0");
    return hex === undefined ? found : escaped(hex);
  });
}

/** The value of JSON whose strings are store text. */
export function fromStoreJson(json: string): unknown {
  return JSON.parse(json.includes(ESCAPE) ? json.replace(ESCAPED, "\\u$1") : json);
}

function escaped(hex: string): string {
  return ESCAPE + hex;
}
