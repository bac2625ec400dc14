/**
 * Whether a text is the URL of a PostgreSQL database that a client may name. What is wrong is said without repeating the text, which may
 * contain a password. Whoever may add databases is not therefore allowed to have the service open files of its machine, or to be sent the
 * password of another database.
 */

const PROTOCOLS: readonly string[] = ["postgres:", "postgresql:"];
/** Parameters whose values are names of files, for any client of PostgreSQL. */
const FILES: readonly string[] = [
  ...["sslcert", "sslkey", "sslrootcert", "sslcrl", "sslcrldir", "sslkeylogfile"],
  ...["passfile", "service", "servicefile"],
];

/** Not a secret: servers that ask for a password refuse it. */
const NO_PASSWORD = "none";

/** Null, or what is wrong; completes "The URL …". */
export function databaseUrlFault(text: string): string | null {
  const url = URL.parse(text);
  if (!url) return "cannot be read: write / and # in a password as %2F and %23";
  if (!PROTOCOLS.includes(url.protocol)) return "must begin with postgres:// or postgresql://";
  const { searchParams } = url;
  if (url.hostname === "" && !searchParams.get("host")) return "names no host";
  if (![url.username, url.password, url.pathname].every(isDecodable)) return "has a % that is not encoded: write %25";
  const file = FILES.find((name) => searchParams.has(name));
  if (file !== undefined) return `must not contain ${file}: the service opens no files named in a URL`;
  return null;
}

/** Without a password in the URL, the client would take one from PGPASSWORD or a password file, and send it to whichever host is named. */
export function withOwnPassword(text: string): string {
  const url = new URL(text);
  if (url.password !== "" || url.searchParams.get("password")) return text;
  url.searchParams.set("password", NO_PASSWORD);
  return url.href;
}

function isDecodable(part: string): boolean {
  try {
    decodeURIComponent(part);
    return true;
  } catch {
    return false;
  }
}
