/** The parts of an app's URL that requests need. */

export interface AppAddress {
  origin: string;
  /** With the query. */
  path: string;
}

/** Null if it is not a valid URL. */
export function appAddress(url: string): AppAddress | null {
  const parsed = URL.parse(url);
  return parsed && { origin: parsed.origin, path: parsed.pathname + parsed.search };
}
