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

  constructor(db: DatabaseSync, lanes: Lanes) {
    this.#lanes = lanes;
    this.#insert = db.prepare(`
      INSERT INTO queue (
        environment_id, lane_no, home_lane_no, rank, due_at, kind, run_no, function_no, step_id, attempt, claims, leased_by, subject, event_no
      ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (run_no, step_id, kind) WHERE run_no IS NOT NULL DO UPDATE SET again = 1
      ON CONFLICT (function_no, kind, subject) WHERE subject IS NOT NULL DO UPDATE SET rank = excluded.rank, due_at = excluded.due_at
      RETURNING entry_no, again`);
    this.#reset = db.prepare(`
      UPDATE queue SET lane_no = ?, rank = ?, due_at = ?, attempt = ?, claims = ?, leased_by = ?, again = 0 WHERE entry_no = ?`);
  }

  /** Listeners are told before the transaction is over: what they ask the store for comes after it. */
  watch(listener: QueueListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** An entry for the same run and step that exists already is asked to go again instead. */
  add(handing: Handing, entry: EntryWrite): void {
    const { environmentId, kind, runNo, functionNo, stepId, attempt, subject, eventSequence } = entry;
    const place = this.#place(handing, entry);
    const row = this.#insert.get(
      ...[environmentId, place.laneNo, this.#lanes.no(entry.lane), place.rank, place.dueAt, kind, runNo, functionNo],
      ...[stepId ?? "", attempt, place.lease ? 1 : 0, place.lease?.node ?? null, subject, eventSequence],
    ) as { entry_no: number; again: number };
    if (place.lease && row.again === 0) handing.handed.push(claimed(entry, row.entry_no as EntryNo, 1));
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
    for (const listener of this.#listeners) listener(lane, entry.dueAt);
    return { laneNo, rank: isDue ? entry.rank : entry.dueAt, dueAt: entry.dueAt, lease };
  }
}
