/** Decides which entries written by one transaction are leased to its node at once, and where the others are placed. */

import type { EntryNo, EnvironmentId, FunctionNo, LeaseId, RunNo, StepId } from "@inlet/protocol";
import { type ClaimedEntry, type EntryKind, type Lease, NO_PROBES, TIMER_LANE } from "../../contract/index.ts";

/** An entry about to be written to the queue. */
export interface EntryWrite {
  environmentId: EnvironmentId;
  /** The lane of a call once it is due. */
  lane: string;
  /** Where a call stands in that lane, however often it is leased or moved to the timers in between. */
  rank: number;
  dueAt: number;
  kind: EntryKind;
  runNo: RunNo | null;
  functionNo: FunctionNo;
  stepId: StepId | null;
  attempt: number;
  subject: string | null;
  eventSequence: number | null;
}

/**
 * The lane and due time of an entry. A leased entry is due again when its lease expires. In the lane of timers, the rank is the due time;
 * in any other lane, a call keeps its own rank while it is leased, so that a lease that ends without an outcome does not change the order.
 */
export interface EntryPosition {
  lane: string;
  rank: number;
  dueAt: number;
  lease: { id: LeaseId; node: string } | null;
}

/** The leases of one transaction, and the capacity they use. */
export class LeaseAllocation {
  #now: number;
  readonly leased: ClaimedEntry[] = [];
  readonly #lease: Lease | undefined;
  /** Created on demand: most transactions lease nothing. */
  #room: Map<string, number> | null = null;

  constructor(now: number, lease: Lease | undefined) {
    this.#now = now;
    this.#lease = lease;
  }

  get now(): number {
    return this.#now;
  }

  /** The decision was made later than it was asked for: what it adds is due by then. */
  moveTo(decidedAt: number): void {
    this.#now = Math.max(this.#now, decidedAt);
  }

  hasRoom(lane: string): boolean {
    return (this.#room?.get(lane) ?? this.#lease?.roomIn(lane) ?? 0) > 0;
  }

  /** The lease for one more entry of this lane, or null if the entry has to wait in the queue. */
  take(lane: string): Lease | null {
    if (!this.#lease) return null;
    this.#room ??= new Map();
    const room = this.#room.get(lane) ?? this.#lease.roomIn(lane);
    this.#room.set(lane, room - 1);
    return room > 0 ? this.#lease : null;
  }

  position(entry: Pick<EntryWrite, "kind" | "lane" | "rank" | "dueAt">): EntryPosition {
    const isDue = entry.dueAt <= this.now;
    const lane = isDue && entry.kind === "call" ? entry.lane : TIMER_LANE;
    const lease = isDue ? this.take(lane) : null;
    const dueAt = lease ? lease.until : entry.dueAt;
    const rank = lane === TIMER_LANE ? dueAt : entry.rank;
    return { lane, rank, dueAt, lease: lease && { id: lease.newId(), node: lease.node } };
  }

  /** The entry was written with this number. No effect unless its position is leased. */
  noteWritten(entry: EntryWrite, no: EntryNo, { lease, dueAt: leasedUntil }: EntryPosition): void {
    if (!lease) return;
    this.leased.push({ ...entry, no, leaseId: lease.id, leasedUntil, claims: 1, probes: NO_PROBES, endedRunNo: null, outcome: null });
  }
}

/**
 * An entry that was planned as held, although its function goes on: whoever planned it did not know yet, and nobody would look for it
 * again. It is due now, like held entries when their function is resumed.
 */
export function unheld<Added extends { write: EntryWrite; position: EntryPosition }>(added: Added, now: number): Added {
  return { ...added, write: { ...added.write, dueAt: now }, position: { ...added.position, rank: now, dueAt: now } };
}
