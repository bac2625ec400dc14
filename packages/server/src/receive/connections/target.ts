/** The target of a request: `/e/<key>?<query>`. */

export const TARGET_START = "/e/";

const AUTHORITY = /^https?:\/\/[^/?]*/i;

/** A client may write the whole URL, as it does to a proxy: its path and query. */
export function originForm(target: string): string {
  if (target.startsWith("/") || !AUTHORITY.test(target)) return target;
  const rest = target.replace(AUTHORITY, "");
  return rest.startsWith("/") ? rest : `/${rest}`;
}

/** The text after `/e/`. Text that cannot be decoded is no valid key, and is looked up unchanged. */
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

/** The target of a key or token. */
export function targetOf(keyText: string, query: string): string {
  return `${TARGET_START}${keyText}${query === "" ? "" : `?${query}`}`;
}
