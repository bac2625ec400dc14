/** Claims due entries of a lane in SQLite, inside a transaction. */

import type { DatabaseSync } from "node:sqlite";
import { type ClaimedEntry, type Lease, type QueueClaimParams, type QueueClaimResult, TIMER_LANE } from "../../contract/index.ts";
import type { Limits } from "../../limits/sqlite.ts";
import type { ChangedRuns } from "../../runs/sqlite/changed-runs.ts";
import { claimResult, claimRoom, leasedPosition, runsToBegin, slotHolders, splitDue } from "../policy/claim.ts";
import { LeaseAllocation } from "../policy/lease-allocation.ts";
import { QUEUE_COLUMNS, type QueueRow, toClaimed } from "../rows.ts";
import type { QueueEntries } from "./queue-entries.ts";

export interface ClaimEntriesParts {
  limits: Limits;
  entries: QueueEntries;
  changed: ChangedRuns;
}

export class ClaimEntries {
  readonly #limits: Limits;
  readonly #entries: QueueEntries;
  readonly #changed: ChangedRuns;
  readonly #due;
  readonly #dueTimers;
  readonly #lease;
  readonly #sendHome;
  readonly #begin;

  constructor(db: DatabaseSync, { limits, entries, changed }: ClaimEntriesParts) {
    this.#limits = limits;
    this.#entries = entries;
    this.#changed = changed;
    // Leased entries are skipped: they keep their rank, so the oldest are often first.
    this.#due = db.prepare(`
      SELECT ${QUEUE_COLUMNS} FROM queue INDEXED BY queue_by_lane
      WHERE lane = ? AND lane <> '${TIMER_LANE}' AND due_at <= ? ORDER BY rank LIMIT ?`);
    this.#dueTimers = db.prepare(`
      SELECT ${QUEUE_COLUMNS} FROM queue INDEXED BY queue_timers
      WHERE lane = '${TIMER_LANE}' AND rank <= ?1 AND due_at <= ?1 ORDER BY rank LIMIT ?2`);
    this.#lease = db.prepare(`
      UPDATE queue SET lane = ?, rank = ?, due_at = ?, lease_id = ?, leased_by = ?, claims = claims + 1 WHERE entry_no = ?`);
    this.#sendHome = db.prepare("UPDATE queue SET lane = home_lane, rank = home_rank WHERE entry_no = ?");
    this.#begin = db.prepare("UPDATE runs SET status = 'running' WHERE run_no = ? AND status = 'queued'");
  }

  claim({ lane, limit, now, lease, limits }: QueueClaimParams): QueueClaimResult {
    const free = this.#limits.free(limits, now);
    const room = claimRoom(limit, free);
    const rows = room > 0 ? this.#dueEntries(lane, now, room) : [];
    const { leased, sentHome } = splitDue(rows, new LeaseAllocation(now, lease));
    for (const { entry_no, home_lane } of sentHome) {
      this.#sendHome.run(entry_no);
      this.#entries.announce(home_lane, now);
    }
    const claimed = leased.map((row) => this.#leaseOne(row, lease));
    for (const { runNo } of runsToBegin(claimed)) if (this.#begin.run(runNo).changes > 0) this.#changed.note(runNo);
    for (const { runNo, no } of slotHolders(claimed)) this.#limits.takeForEntry(limits, runNo, no);
    return claimResult(claimed, { found: rows.length, room, free });
  }

  #dueEntries(lane: string, now: number, limit: number): QueueRow[] {
    const rows = lane === TIMER_LANE ? this.#dueTimers.all(now, limit) : this.#due.all(lane, now, limit);
    return rows as unknown as QueueRow[];
  }

  #leaseOne(row: QueueRow, offered: Lease): ClaimedEntry {
    const leaseId = offered.newId();
    const { until, node } = offered;
    const { lane, rank } = leasedPosition(row, until);
    this.#lease.run(lane, rank, until, leaseId, node, row.entry_no);
    return toClaimed(row, leaseId, until);
  }
}
