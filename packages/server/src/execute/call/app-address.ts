/** The parts of an app's address. There are few of them, and every call asks twice: those seen before need not be parsed again. */

export interface AppAddress {
  origin: string;
  host: string;
  /** With the query. */
  path: string;
  /** Where connections without encryption lead to; null for others. */
  plain: { hostname: string; port: number } | null;
}

/** A bound against those who name a step anew in every run. */
const REMEMBERED_MAX = 1_000;
const remembered = new Map<string, AppAddress>();

/** Null for what is no address. */
export function appAddress(url: string): AppAddress | null {
  const known = remembered.get(url);
  if (known) return known;
  const parsed = URL.parse(url);
  if (!parsed) return null;
  const { protocol, origin, host, port } = parsed;
  const hostname = parsed.hostname.replace(/^\[(.*)\]$/, "$1");
  const plain = protocol === "http:" ? { hostname, port: Number(port || 80) } : null;
  const address = { origin, host, path: parsed.pathname + parsed.search, plain };
  if (remembered.size >= REMEMBERED_MAX) remembered.clear();
  remembered.set(url, address);
  return address;
}
