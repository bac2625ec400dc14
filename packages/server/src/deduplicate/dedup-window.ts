/**
 * The deduplication window: an id counts as seen for exactly `windowMs` from the first event that carried it. Later
 * duplicates do not extend the window.
 *
 * The check itself is made inside the store's transaction, so that no concurrent sender can get between check and write; this
 * module only computes its bound.
 */

export interface DedupWindow {
  /** An event received at `receivedAt` is a duplicate if its id was first seen after the returned time. */
  duplicateSince(receivedAt: number): number;
}

export function createDedupWindow(windowMs: number): DedupWindow {
  return { duplicateSince: (receivedAt) => receivedAt - windowMs };
}
