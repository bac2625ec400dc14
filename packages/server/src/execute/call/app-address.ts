/** The parts of an app's address, as requests need them. */

export interface AppAddress {
  origin: string;
  /** With the query. */
  path: string;
}

/** Null for what is no address. */
export function appAddress(url: string): AppAddress | null {
  const parsed = URL.parse(url);
  return parsed && { origin: parsed.origin, path: parsed.pathname + parsed.search };
}
