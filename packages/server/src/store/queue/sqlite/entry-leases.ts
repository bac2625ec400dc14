/** Renews, releases and removes leased entries in SQLite, inside a transaction. */

import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { EntryNo, RunNo } from "@inlet/protocol";
import { LEASE_WITHOUT_END, type LeasedEntry, type ProbePhase, TIMER_LANE } from "../../contract/index.ts";
import type { Limits } from "../../limits/sqlite.ts";
import type { RunOrder } from "../../orders/sqlite.ts";
import type { QueueEntries } from "./queue-entries.ts";

/** Leases that expire are much shorter than this. After a larger backward clock change, entries recover when their leases expire. */
const LEASE_MS_MAX = 3_600_000;
/** The rank of a leased timer is the end of its lease: timers further ahead are not examined. */
const HELD_ENTRIES = [
  ["queue_timers", `lane = '${TIMER_LANE}' AND rank <= ?2 + ${LEASE_MS_MAX}`],
  ["queue_timers", `lane = '${TIMER_LANE}' AND rank >= ${LEASE_WITHOUT_END}`],
  ["queue_by_lane", `lane <> '${TIMER_LANE}'`],
] as const;

/** The rank of an entry that is due at this time: in the lane of timers the time, elsewhere its own. */
const rankAt = (time: string) => `iif(lane = '${TIMER_LANE}', ${time}, rank)`;

export interface EntryLeasesParts {
  limits: Limits;
  order: RunOrder;
  entries: QueueEntries;
}

export class EntryLeases {
  readonly #parts: EntryLeasesParts;
  readonly #renew;
  readonly #release;
  readonly #recover;
  readonly #reschedule;
  readonly #remove;
  readonly #probes: Readonly<Record<ProbePhase, { count: StatementSync; forget: StatementSync }>>;

  constructor(db: DatabaseSync, parts: EntryLeasesParts) {
    this.#parts = parts;
    this.#renew = db.prepare(`UPDATE queue SET rank = ${rankAt("?3")}, due_at = ?3 WHERE entry_no = ?1 AND lease_id = ?2`);
    this.#release = db.prepare(`
      UPDATE queue SET rank = ${rankAt("?3")}, due_at = ?3, lease_id = NULL, leased_by = NULL, claims = max(claims - 1, 0)
      WHERE entry_no = ?1 AND lease_id = ?2 RETURNING run_no, lane`);
    this.#recover = HELD_ENTRIES.map(([index, held]) =>
      db.prepare(`
        UPDATE queue INDEXED BY ${index} SET rank = ${rankAt("?2")}, due_at = ?2, lease_id = NULL, leased_by = NULL
        WHERE leased_by = ?1 AND ${held} RETURNING entry_no, run_no`),
    );
    this.#reschedule = db.prepare(`
      UPDATE queue SET lane = '${TIMER_LANE}', rank = ?3, due_at = ?3, lease_id = NULL, leased_by = NULL
      WHERE entry_no = ?1 AND lease_id = ?2 RETURNING run_no`);
    this.#remove = db.prepare("DELETE FROM queue WHERE entry_no = ? AND lease_id = ? RETURNING run_no");
    this.#probes = { calling: probesIn(db, "calling_probes"), concluding: probesIn(db, "concluding_probes") };
  }

  /** Whether the lease is still held. */
  renew({ no, leaseId }: LeasedEntry, until: number): boolean {
    return this.#renew.run(no, leaseId, until).changes > 0;
  }

  release({ no, leaseId }: LeasedEntry, now: number): void {
    const row = this.#release.get(no, leaseId, now) as { run_no: RunNo | null; lane: string } | undefined;
    this.#freeSlots(no, row);
    if (row) this.#parts.entries.announce(row.lane, now);
  }

  recover(node: string, now: number): void {
    const rows = this.#recover.flatMap((statement) => statement.all(node, now)) as { entry_no: EntryNo; run_no: RunNo | null }[];
    for (const row of rows) this.#freeSlots(row.entry_no, row);
  }

  reschedule({ no, leaseId }: LeasedEntry, dueAt: number): void {
    this.#freeSlots(no, this.#reschedule.get(no, leaseId, dueAt));
    this.#parts.entries.announce(TIMER_LANE, dueAt);
  }

  /** The order of a key may wait for the last call of an ended run. */
  remove({ no, leaseId }: LeasedEntry): void {
    const row = this.#remove.get(no, leaseId) as { run_no: RunNo | null } | undefined;
    this.#freeSlots(no, row);
    if (row && row.run_no !== null) this.#parts.order.leave(row.run_no);
  }

  countProbe(phase: ProbePhase, { no, leaseId }: LeasedEntry): void {
    this.#probes[phase].count.run(no, leaseId);
  }

  clearProbes(phase: ProbePhase, { no, leaseId }: LeasedEntry): void {
    this.#probes[phase].forget.run(no, leaseId);
  }

  /** A released entry needs no slot. */
  #freeSlots(no: EntryNo, row: unknown): void {
    const runNo = (row as { run_no: RunNo | null } | undefined)?.run_no ?? null;
    if (runNo !== null) this.#parts.limits.freeEntry(runNo, no);
  }
}

function probesIn(db: DatabaseSync, column: string): { count: StatementSync; forget: StatementSync } {
  const set = (value: string) => db.prepare(`UPDATE queue SET ${column} = ${value} WHERE entry_no = ? AND lease_id = ?`);
  return { count: set(`${column} + 1`), forget: set("0") };
}
