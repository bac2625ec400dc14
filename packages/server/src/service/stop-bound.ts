/** How long a service that is asked to stop may take at most. Whoever ends it later by force, as in `deploy/`, waits longer. */

import type { Config } from "../config/config.ts";

/** The time to close everything else. */
const CLOSE_MS = 30_000;

/** Calls of apps end within the drain timeout, and so do open requests after them. */
export function stopBoundMs({ drainDelay, drainTimeout }: Pick<Config, "drainDelay" | "drainTimeout">): number {
  return drainDelay + 2 * drainTimeout + CLOSE_MS;
}
