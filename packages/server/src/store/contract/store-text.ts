/**
 * Names and ids are arbitrary JavaScript strings, but databases store UTF-8 text: a lone surrogate would be replaced, which would
 * make different ids equal, and PostgreSQL refuses NUL. Such characters are written as `\uXXXX`, and backslashes are doubled,
 * so that each stored text represents exactly one string, and prefixes stay prefixes.
 */

export function toStoreText(text: string): string {
  if (text.isWellFormed() && !text.includes("\\") && !text.includes("\0")) return text;
  // Without the `u` flag, pairs would be split; \p{Cs} matches only unpaired surrogates.
  return text.replace(/[\\\0\p{Cs}]/gu, (c) => (c === "\\" ? "\\\\" : `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`));
}

export function fromStoreText(text: string): string {
  if (!text.includes("\\")) return text;
  return text.replace(/\\(?:\\|u([0-9a-f]{4}))/g, (_, hex?: string) => (hex ? String.fromCharCode(Number.parseInt(hex, 16)) : "\\"));
}
