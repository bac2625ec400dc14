/** When a page shows an error in place of what it loaded. */

import { ApiError } from "./client.ts";

/** The object is gone, or this user may not see it any more. */
const WITHDRAWN_STATUSES: ReadonlySet<number> = new Set([403, 404]);

/**
 * Whether there is nothing to show but the error. When a poll fails, what was loaded before stays, with open dialogs and unsaved input: the
 * next poll may succeed. An answer that takes the object away is final.
 */
export function isUnavailable(error: Error | null, data: unknown): boolean {
  if (error === null) return false;
  return data === undefined || (error instanceof ApiError && WITHDRAWN_STATUSES.has(error.status));
}
