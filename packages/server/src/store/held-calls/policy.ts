/** What becomes of a call whose function is paused. */

import { HELD_UNTIL } from "../contract/index.ts";

/**
 * When a call is due that is put aside. Never while its function is paused, unless its run has ended: then there is nothing to wait for,
 * and whoever claims the call removes it.
 */
export function heldUntil({ isPaused, hasEnded }: { isPaused: boolean; hasEnded: boolean }, now: number): number {
  return isPaused && !hasEnded ? HELD_UNTIL : now;
}
