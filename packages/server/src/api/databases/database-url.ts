/** Whether a text is the URL of a PostgreSQL database. What is wrong is said without repeating the text, which may contain a password. */

const PROTOCOLS: readonly string[] = ["postgres:", "postgresql:"];

/** Null, or what is wrong; completes "The URL …". */
export function databaseUrlFault(text: string): string | null {
  const url = URL.parse(text);
  if (!url) return "cannot be read: characters such as / and # in a password are percent-encoded";
  if (!PROTOCOLS.includes(url.protocol)) return "must begin with postgres:// or postgresql://";
  if (url.hostname === "" && !url.searchParams.get("host")) return "names no host";
  if (![url.username, url.password, url.pathname].every(isDecodable)) return "has a % that does not begin an escape: it is written %25";
  return null;
}

function isDecodable(part: string): boolean {
  try {
    decodeURIComponent(part);
    return true;
  } catch {
    return false;
  }
}
