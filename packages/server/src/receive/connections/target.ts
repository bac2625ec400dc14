/** `/e/<key>?<query>`, the target of a request. */

export const TARGET_START = "/e/";

/** The text after `/e/`. What cannot be decoded is no key of ours, and is looked up as it is. */
export function keyTextOf(target: string): string {
  const queryStart = target.indexOf("?");
  const text = target.slice(TARGET_START.length, queryStart < 0 ? target.length : queryStart);
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The text after the question mark. */
export function queryOf(target: string): string {
  const queryStart = target.indexOf("?");
  return queryStart < 0 ? "" : target.slice(queryStart + 1);
}
