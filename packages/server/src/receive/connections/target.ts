/** `/e/<key>?<query>`, the target of a request. */

export const TARGET_START = "/e/";

/** The text after `/e/`. What cannot be decoded is no key of ours, and is looked up as it is. */
export function keyTextOf(target: string): string {
  const [path = ""] = target.split("?", 1);
  const text = path.slice(TARGET_START.length);
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The text after the question mark. */
export function queryOf(target: string): string {
  return target.includes("?") ? target.slice(target.indexOf("?") + 1) : "";
}

/** The target that leads to a key or token. */
export function targetOf(keyText: string, query: string): string {
  return `${TARGET_START}${keyText}${query === "" ? "" : `?${query}`}`;
}
