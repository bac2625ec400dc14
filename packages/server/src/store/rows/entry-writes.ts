/** Entries of the queue on their way into rows, and what of them is handed over at once. */

import type { EntryNo, EnvironmentId, FunctionNo, RunNo, StepId } from "@inlet/protocol";
import type { ClaimedEntry, EntryKind, Lease } from "../contract/index.ts";

/** What one transaction hands over, and how much room it has used up. */
export class Handing {
  readonly now: number;
  handed: ClaimedEntry[] = [];
  readonly #lease: Lease | undefined;
  /** Made when it is needed: most transactions hand nothing over. */
  #room: Map<string, number> | null = null;

  constructor(now: number, lease: Lease | undefined) {
    this.now = now;
    this.#lease = lease;
  }

  hasRoom(lane: string): boolean {
    return (this.#room?.get(lane) ?? this.#lease?.roomIn(lane) ?? 0) > 0;
  }

  /** The run has ended in the same transaction: nobody is to work on it. */
  withdraw(runNo: RunNo): void {
    if (this.handed.length > 0) this.handed = this.handed.filter((entry) => entry.runNo !== runNo);
  }

  /** The lease for one more entry of this lane, or null when it has to wait in the queue. */
  take(lane: string): Lease | null {
    if (!this.#lease) return null;
    this.#room ??= new Map();
    const room = this.#room.get(lane) ?? this.#lease.roomIn(lane);
    this.#room.set(lane, room - 1);
    return room > 0 ? this.#lease : null;
  }
}

export interface EntryWrite {
  environmentId: EnvironmentId;
  /** Where a call stands when it is due. */
  lane: string;
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

export function claimed(entry: EntryWrite, no: EntryNo, claims: number): ClaimedEntry {
  const { kind, environmentId, lane, rank, dueAt, runNo, functionNo, stepId, attempt, subject, eventSequence } = entry;
  return { no, kind, environmentId, lane, rank, dueAt, runNo, functionNo, stepId, attempt, claims, trials: 0, subject, eventSequence };
}
