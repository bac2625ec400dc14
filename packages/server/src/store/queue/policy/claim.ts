/** What a claim does with the due entries of a lane. The engine reads them, and writes what is decided here. */

import type { RunNo } from "@inlet/protocol";
import type { ClaimedEntry, EntryKind, QueueClaimResult } from "../../contract/index.ts";
import type { LeaseAllocation } from "./lease-allocation.ts";

/** Where a due entry stands, and where it belongs. */
export interface DueEntry {
  kind: EntryKind;
  lane: string;
  home_lane: string;
  home_rank: number;
}

/** How many entries may be claimed. `free`: the free slots of each limit, by its id. */
export function claimRoom(limit: number, free: ReadonlyMap<string, number>): number {
  return Math.min(limit, ...free.values());
}

/** Calls in the lane of timers move to their own lane: they are leased if it has capacity, otherwise they wait there. */
export function splitDue<Entry extends DueEntry>(
  due: readonly Entry[],
  allocation: LeaseAllocation,
): { leased: Entry[]; sentHome: Entry[] } {
  const leased: Entry[] = [];
  const sentHome: Entry[] = [];
  for (const entry of due) {
    const isAway = entry.kind === "call" && entry.lane !== entry.home_lane;
    if (isAway && !allocation.take(entry.home_lane)) sentHome.push(entry);
    else leased.push(entry);
  }
  return { leased, sentHome };
}

/** A leased call stands in its own lane, at its own rank. Anything else stays where it is, at the time at which its lease ends. */
export function leasedPosition({ kind, lane, home_lane, home_rank }: DueEntry, until: number): { lane: string; rank: number } {
  return kind === "call" ? { lane: home_lane, rank: home_rank } : { lane, rank: until };
}

/** A run begins when its first call is claimed. */
export function runsToBegin<Entry extends Pick<ClaimedEntry, "kind" | "runNo">>(claimed: readonly Entry[]): (Entry & { runNo: RunNo })[] {
  return slotHolders(claimed).filter(({ kind }) => kind === "call");
}

/** Entries of runs take a slot of every limit. */
export function slotHolders<Entry extends Pick<ClaimedEntry, "runNo">>(claimed: readonly Entry[]): (Entry & { runNo: RunNo })[] {
  return claimed.filter((entry): entry is Entry & { runNo: RunNo } => entry.runNo !== null);
}

/** `found`: how many due entries were read; `room`: how many were asked for; `free`: slots before the claim. */
export function claimResult(
  claimed: ClaimedEntry[],
  { found, room, free }: { found: number; room: number; free: ReadonlyMap<string, number> },
): QueueClaimResult {
  const taken = slotHolders(claimed).length;
  const fullLimits = [...free].filter(([, slots]) => slots <= taken).map(([id]) => id);
  return { claimed, more: found === room, fullLimits };
}
