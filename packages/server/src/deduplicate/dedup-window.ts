/**
 * The rule of the deduplication window: an id counts as seen for `windowMs` from the first event that carried it, and not a
 * millisecond longer. Later duplicates do not extend the window.
 *
 * The verdict itself falls inside the store's transaction, where no concurrent sender can slip between check and write; this
 * module gives it the one number it needs.
 */

export interface DedupWindow {
  /** An id first seen after the returned instant makes an event received at `receivedAt` a duplicate. */
  duplicateSince(receivedAt: number): number;
}

export function createDedupWindow(windowMs: number): DedupWindow {
  return { duplicateSince: (receivedAt) => receivedAt - windowMs };
}
