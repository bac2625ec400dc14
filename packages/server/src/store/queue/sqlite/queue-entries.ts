/** Queue entries, written inside the transaction of the work they belong to, and leased at once if there is capacity. */

import type { DatabaseSync } from "node:sqlite";
import type { EntryNo, EnvironmentId, FunctionNo, RunNo, StepId } from "@inlet/protocol";
import { HELD_UNTIL, NO_PROBES, type QueueListener, TIMER_LANE, type WaitOutcome } from "../../contract/index.ts";
import { type EntryPosition, type EntryWrite, type LeaseAllocation, unheld } from "../policy/lease-allocation.ts";

/** What a step waited for. */
export type Arrival = { eventSequence: number } | { endedRunNo: RunNo } | { outcome: WaitOutcome };

interface MovedRow {
  entry_no: EntryNo;
  environment_id: EnvironmentId;
  function_no: FunctionNo;
  attempt: number;
}

export const IS_PAUSED = `
  SELECT 1 FROM functions AS f JOIN environments AS e USING (environment_id)
  WHERE function_no = ? AND (f.paused_at IS NOT NULL OR e.archived_at IS NOT NULL)`;

export class QueueEntries {
  readonly #insert;
  readonly #isPaused;
  readonly #renew;
  readonly #makeDue;
  readonly #noteArrival;
  readonly #listeners = new Set<QueueListener>();
  /** SQLite would reuse the number of a removed entry while a node may still work with it. */
  #nextNo: number;

  constructor(db: DatabaseSync) {
    this.#nextNo = ((db.prepare("SELECT max(entry_no) AS no FROM queue").get()?.no as number | null) ?? 0) + 1;
    this.#isPaused = db.prepare(IS_PAUSED);
    this.#insert = db.prepare(`
      INSERT INTO queue (
        entry_no, environment_id, lane, home_lane, rank, home_rank, due_at, kind, run_no, function_no, step_id, attempt, claims, lease_id, leased_by,
        subject, event_no
      ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (run_no, step_id, kind) WHERE run_no IS NOT NULL DO NOTHING
      ON CONFLICT (function_no, kind, subject) WHERE subject IS NOT NULL DO UPDATE SET
        rank = excluded.rank, home_rank = excluded.home_rank, due_at = excluded.due_at, claims = excluded.claims, calling_probes = 0, concluding_probes = 0, lease_id = excluded.lease_id,
        leased_by = excluded.leased_by, event_no = excluded.event_no
      RETURNING entry_no`);
    this.#renew = db.prepare(`
      UPDATE queue SET lane = ?, rank = ?, home_rank = ?, due_at = ?, attempt = ?, claims = ?, calling_probes = 0, concluding_probes = 0, lease_id = ?, leased_by = ?, again = 0
      WHERE entry_no = ?`);
    this.#makeDue = db.prepare(`
      UPDATE queue SET rank = ?, due_at = ?, lease_id = ?, leased_by = ?, claims = ?, event_no = ?, ended_run_no = ?, outcome = ?
      WHERE run_no = ? AND step_id = ? AND kind = 'resume' AND lease_id IS NULL AND event_no IS NULL AND ended_run_no IS NULL AND outcome IS NULL
      RETURNING entry_no, environment_id, function_no, attempt`);
    this.#noteArrival = db.prepare(`
      UPDATE queue SET event_no = ?
      WHERE run_no = ? AND step_id = ? AND kind = 'resume' AND event_no IS NULL AND ended_run_no IS NULL AND outcome IS NULL`);
  }

  /** Tells listeners that an entry of a lane can be claimed at that time. */
  announce(lane: string, dueAt: number): void {
    for (const listener of this.#listeners) listener(lane, dueAt);
  }

  /** Listeners are notified before the transaction ends: their own store operations run after it. */
  watch(listener: QueueListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** An existing entry of the same run, step and kind stays as it is; one of the same subject is moved. */
  add(allocation: LeaseAllocation, planned: EntryWrite, initial = allocation.position(planned)): void {
    // Whoever plans a held entry may not know yet that its function goes on.
    const goesOn = planned.dueAt === HELD_UNTIL && !this.#isPaused.get(planned.functionNo);
    const added = { write: planned, position: initial };
    const { write, position } = goesOn ? unheld(added, allocation.now) : added;
    const { environmentId, kind, runNo, functionNo, stepId, attempt, subject, eventSequence } = write;
    const { lease, rank, dueAt } = position;
    const row = this.#insert.get(
      this.#nextNo++,
      environmentId,
      position.lane,
      write.lane,
      rank,
      write.rank,
      dueAt,
      kind,
      runNo,
      functionNo,
      stepId ?? "",
      attempt,
      lease ? 1 : 0,
      lease?.id ?? null,
      lease?.node ?? null,
      subject,
      eventSequence,
    ) as { entry_no: EntryNo } | undefined;
    if (row) this.#noteWritten(allocation, write, row.entry_no, position);
  }

  /** Resets the entry: for another attempt, or one more discovery. */
  renew(allocation: LeaseAllocation, no: EntryNo, write: EntryWrite, position: EntryPosition): void {
    const { lease, lane, rank, dueAt } = position;
    this.#renew.run(lane, rank, write.rank, dueAt, write.attempt, lease ? 1 : 0, lease?.id ?? null, lease?.node ?? null, no);
    this.#noteWritten(allocation, write, no, position);
  }

  /** The awaited event, run or signal has arrived: the entry is due. False if it timed out first, or something else arrived before. */
  makeDue(allocation: LeaseAllocation, runNo: RunNo, stepId: StepId, arrival: Arrival): boolean {
    const eventSequence = "eventSequence" in arrival ? arrival.eventSequence : null;
    const endedRunNo = "endedRunNo" in arrival ? arrival.endedRunNo : null;
    const outcome = "outcome" in arrival ? arrival.outcome : null;
    const { now } = allocation;
    const position = allocation.position({ kind: "resume", lane: TIMER_LANE, rank: now, dueAt: now });
    const { lease, rank, dueAt } = position;
    const held = [rank, dueAt, lease?.id ?? null, lease?.node ?? null, lease ? 1 : 0];
    const row = this.#makeDue.get(...held, eventSequence, endedRunNo, outcome && JSON.stringify(outcome), runNo, stepId) as
      | MovedRow
      | undefined;
    if (!row) return false;
    if (!lease) this.announce(TIMER_LANE, now);
    else {
      const entry = { environmentId: row.environment_id, functionNo: row.function_no, attempt: row.attempt, runNo, stepId };
      const due = { kind: "resume", lane: TIMER_LANE, rank: now, dueAt: now, subject: null, eventSequence, endedRunNo, outcome } as const;
      const held = { no: row.entry_no, leaseId: lease.id, leasedUntil: dueAt, claims: 1, probes: NO_PROBES };
      allocation.leased.push({ ...entry, ...due, ...held });
    }
    return true;
  }

  /** The entry is leased because it timed out. Whoever holds it resumes the run with the event. False if something else arrived before. */
  noteArrival(runNo: RunNo, stepId: StepId, eventSequence: number): boolean {
    return this.#noteArrival.run(eventSequence, runNo, stepId).changes > 0;
  }

  #noteWritten(allocation: LeaseAllocation, write: EntryWrite, no: EntryNo, position: EntryPosition): void {
    if (position.lease) allocation.noteWritten(write, no, position);
    else this.announce(position.lane, write.dueAt);
  }
}
