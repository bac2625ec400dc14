/** Entries of the queue, written inside the transaction of what they belong to, and handed over at once where there is room. */

import type { DatabaseSync } from "node:sqlite";
import type { EntryNo } from "@inlet/protocol";
import { type Lease, type QueueListener, TIMER_LANE } from "../contract/index.ts";
import { claimed, type EntryWrite, type Handing } from "../rows/entry-writes.ts";
import type { Lanes } from "./lanes.ts";

export class QueueEntries {
  readonly #lanes: Lanes;
  readonly #insert;
  readonly #reset;
  readonly #listeners = new Set<QueueListener>();
  /** SQLite would use the number of an entry that is gone again, while somebody still works with it. */
  #nextNo: number;

  constructor(db: DatabaseSync, lanes: Lanes) {
    this.#lanes = lanes;
    this.#nextNo = ((db.prepare("SELECT max(entry_no) AS no FROM queue").get()?.no as number | null) ?? 0) + 1;
    this.#insert = db.prepare(`
      INSERT INTO queue (
        entry_no, environment_id, lane_no, home_lane_no, rank, due_at, kind, run_no, function_no, step_id, attempt, claims, leased_by, subject, event_no
      ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (run_no, step_id, kind) WHERE run_no IS NOT NULL DO UPDATE SET again = step_id = '' AND leased_by IS NOT NULL
      ON CONFLICT (function_no, kind, subject) WHERE subject IS NOT NULL DO UPDATE SET
        rank = excluded.rank, due_at = excluded.due_at, claims = excluded.claims, trials = 0, leased_by = excluded.leased_by,
        event_no = excluded.event_no
      RETURNING entry_no`);
    this.#reset = db.prepare(`
      UPDATE queue SET lane_no = ?, rank = ?, due_at = ?, attempt = ?, claims = ?, trials = 0, leased_by = ?, again = 0 WHERE entry_no = ?`);
  }

  /** Tells those who watch that something of a lane can be claimed at that time. */
  announce(lane: string, dueAt: number): void {
    for (const listener of this.#listeners) listener(lane, dueAt);
  }

  /** Listeners are told before the transaction is over: what they ask the store for comes after it. */
  watch(listener: QueueListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * There is one entry for each step of a run. A discovery that is under way is asked to go again, because it may not know of
   * what came since; any other entry that exists stays as it is.
   */
  add(handing: Handing, entry: EntryWrite): void {
    const { environmentId, kind, runNo, functionNo, stepId, attempt, subject, eventSequence } = entry;
    const place = this.#place(handing, entry);
    const no = this.#nextNo++;
    const row = this.#insert.get(
      ...[no, environmentId, place.laneNo, this.#lanes.no(entry.lane), place.rank, place.dueAt, kind, runNo, functionNo],
      ...[stepId ?? "", attempt, place.lease ? 1 : 0, place.lease?.node ?? null, subject, eventSequence],
    ) as { entry_no: EntryNo };
    // An entry found by its subject was moved, and is held now if there was room for it.
    if (place.lease && (row.entry_no === no || subject !== null)) handing.handed.push(claimed(entry, row.entry_no, 1));
  }

  /** The entry begins anew: another attempt, or one more discovery. */
  renew(handing: Handing, no: EntryNo, entry: EntryWrite): void {
    const { laneNo, rank, dueAt, lease } = this.#place(handing, entry);
    this.#reset.run(laneNo, rank, dueAt, entry.attempt, lease ? 1 : 0, lease?.node ?? null, no);
    if (lease) handing.handed.push(claimed(entry, no, 1));
  }

  #place(handing: Handing, entry: EntryWrite): { laneNo: number; rank: number; dueAt: number; lease: Lease | null } {
    const isDue = entry.dueAt <= handing.now;
    const lane = isDue && entry.kind === "call" ? entry.lane : TIMER_LANE;
    const lease = isDue ? handing.take(lane) : null;
    const laneNo = this.#lanes.no(lane);
    if (lease) return { laneNo, rank: lease.until, dueAt: lease.until, lease };
    this.announce(lane, entry.dueAt);
    return { laneNo, rank: isDue ? entry.rank : entry.dueAt, dueAt: entry.dueAt, lease };
  }
}
