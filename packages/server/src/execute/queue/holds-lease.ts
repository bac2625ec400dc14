/**
 * Whether no other node can hold an entry that this node has claimed. The end of a lease is computed before the claim or the renewal is
 * sent, and time is that of the store, which goes on while the process stands still.
 */

import type { ClaimedEntry } from "../../store/contract/index.ts";
import type { Clock } from "../clock.ts";

export function holdsLease({ leasedUntil }: Pick<ClaimedEntry, "leasedUntil">, clock: Pick<Clock, "now">): boolean {
  return leasedUntil > clock.now();
}
