/**
 * Names and ids are any JavaScript strings, but databases keep UTF-8 text: a lone surrogate would be replaced, which would
 * make different ids equal, and PostgreSQL refuses NUL. Such characters are written as `\uXXXX`, and the backslash doubled,
 * so that the text in the store stands for exactly one string, and a prefix of the one is a prefix of the other.
 */

export function toStoreText(text: string): string {
  if (text.isWellFormed() && !text.includes("\\") && !text.includes("\0")) return text;
  // Without the `u` flag a pair would be taken apart; \p{Cs} matches only surrogates that have no partner.
  return text.replace(/[\\\0\p{Cs}]/gu, (c) => (c === "\\" ? "\\\\" : `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`));
}

export function fromStoreText(text: string): string {
  if (!text.includes("\\")) return text;
  return text.replace(/\\(?:\\|u([0-9a-f]{4}))/g, (_, hex?: string) => (hex ? String.fromCharCode(Number.parseInt(hex, 16)) : "\\"));
}
