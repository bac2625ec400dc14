/** The parts of an app's address. There are few of them, and every call asks twice: those seen before need not be parsed again. */

export interface AppAddress {
  origin: string;
  /** With the query. */
  path: string;
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
  const address = { origin: parsed.origin, path: parsed.pathname + parsed.search };
  if (remembered.size >= REMEMBERED_MAX) remembered.clear();
  remembered.set(url, address);
  return address;
}
