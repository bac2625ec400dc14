/** Claiming, renewing and recovering queue entries in SQLite. */

import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { EntryNo, EnvironmentId, FunctionNo, LeaseId, RunNo, StepId } from "@inlet/protocol";
import {
  type ClaimedEntry,
  type EntryKind,
  LEASE_WITHOUT_END,
  type LeasedEntry,
  type QueueClaimParams,
  type QueueClaimResult,
  type QueueStore,
  TIMER_LANE,
  type TrialPhase,
  type WaitOutcome,
} from "../../contract/index.ts";
import { heldCallStore } from "../../held-calls/sqlite.ts";
import type { Limits } from "../../limits/sqlite.ts";
import type { RunOrder } from "../../orders/sqlite.ts";
import type { GroupCommit } from "../../sqlite/group-commit.ts";
import type { Reader } from "../../sqlite/reader.ts";
import { LeaseAllocation } from "../policy.ts";
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

const COLUMNS = `
  entry_no, environment_id, lane, home_lane, rank, home_rank, due_at, kind, run_no, function_no, step_id, attempt, claims, calling_trials,
  concluding_trials, subject, event_no, ended_run_no, outcome`;

interface QueueRow {
  entry_no: number;
  environment_id: number;
  lane: string;
  home_lane: string;
  rank: number;
  home_rank: number;
  due_at: number;
  kind: string;
  run_no: number | null;
  function_no: number;
  step_id: string;
  attempt: number;
  claims: number;
  calling_trials: number;
  concluding_trials: number;
  subject: string | null;
  event_no: number | null;
  ended_run_no: number | null;
  outcome: string | null;
}

export interface QueueParts {
  writer: GroupCommit;
  reader: Reader;
  limits: Limits;
  order: RunOrder;
  entries: QueueEntries;
}

export function queueStore(db: DatabaseSync, { writer, reader, limits, order, entries }: QueueParts): QueueStore {
  // Leased entries are skipped: they keep their rank, so the oldest are often first.
  const due = db.prepare(`
    SELECT ${COLUMNS} FROM queue INDEXED BY queue_by_lane WHERE lane = ? AND lane <> '${TIMER_LANE}' AND due_at <= ? ORDER BY rank LIMIT ?`);
  const dueTimers = db.prepare(`
    SELECT ${COLUMNS} FROM queue INDEXED BY queue_timers WHERE lane = '${TIMER_LANE}' AND rank <= ?1 AND due_at <= ?1 ORDER BY rank LIMIT ?2`);
  const lease = db.prepare(`
    UPDATE queue SET lane = ?, rank = ?, due_at = ?, lease_id = ?, leased_by = ?, claims = claims + 1 WHERE entry_no = ?`);
  const sendHome = db.prepare("UPDATE queue SET lane = home_lane, rank = home_rank WHERE entry_no = ?");
  const begin = db.prepare("UPDATE runs SET status = 'running' WHERE run_no = ? AND status = 'queued'");
  const renew = db.prepare(`UPDATE queue SET rank = ${rankAt("?3")}, due_at = ?3 WHERE entry_no = ?1 AND lease_id = ?2`);
  const recover = HELD_ENTRIES.map(([index, held]) =>
    db.prepare(`
      UPDATE queue INDEXED BY ${index} SET rank = ${rankAt("?2")}, due_at = ?2, lease_id = NULL, leased_by = NULL
      WHERE leased_by = ?1 AND ${held} RETURNING entry_no, run_no`),
  );
  const laneAfter = db.prepare(
    `SELECT lane FROM queue INDEXED BY queue_by_lane WHERE lane > ? AND lane <> '${TIMER_LANE}' ORDER BY lane LIMIT 1`,
  );
  const nextDue = db.prepare(`SELECT min(rank) AS due FROM queue INDEXED BY queue_timers WHERE lane = '${TIMER_LANE}'`);
  const reschedule = db.prepare(`
    UPDATE queue SET lane = '${TIMER_LANE}', rank = ?3, due_at = ?3, lease_id = NULL, leased_by = NULL
    WHERE entry_no = ?1 AND lease_id = ?2 RETURNING run_no`);
  const release = db.prepare(`
    UPDATE queue SET rank = ${rankAt("?3")}, due_at = ?3, lease_id = NULL, leased_by = NULL, claims = max(claims - 1, 0)
    WHERE entry_no = ?1 AND lease_id = ?2 RETURNING run_no, lane`);
  const trial = (phase: TrialPhase) => {
    const column = `${phase}_trials`;
    const [count, forget] = [`${column} + 1`, "0"].map((value) =>
      db.prepare(`UPDATE queue SET ${column} = ${value} WHERE entry_no = ? AND lease_id = ?`),
    ) as [StatementSync, StatementSync];
    return { count, forget };
  };
  const trials = { calling: trial("calling"), concluding: trial("concluding") };
  const remove = db.prepare("DELETE FROM queue WHERE entry_no = ? AND lease_id = ? RETURNING run_no");

  function claim({ lane, limit, now, lease: offered, limits: rules }: QueueClaimParams): QueueClaimResult {
    const room = Math.min(limit, ...rules.map((rule) => limits.free(rule, now)));
    const rows = room > 0 ? dueEntries(lane, now, room) : [];
    const allocation = new LeaseAllocation(now, offered);
    const claimed = rows.flatMap((row) => take(row, offered, allocation) ?? []);
    for (const { runNo, no } of claimed) if (runNo !== null) limits.takeForEntry(rules, runNo, no);
    const fullLimits = rules.filter((rule) => limits.free(rule, now) === 0).map(({ id }) => id);
    return { claimed, more: rows.length === room, fullLimits };
  }

  function dueEntries(lane: string, now: number, limit: number): QueueRow[] {
    const rows = lane === TIMER_LANE ? dueTimers.all(now, limit) : due.all(lane, now, limit);
    return rows as unknown as QueueRow[];
  }

  /** Calls in the lane of timers move to their own lane: they are leased if it has capacity, otherwise they wait there. */
  function take(row: QueueRow, offered: QueueClaimParams["lease"], allocation: LeaseAllocation): ClaimedEntry | null {
    const lane = row.home_lane;
    if (row.kind === "call" && row.lane !== row.home_lane && !allocation.take(lane)) {
      sendHome.run(row.entry_no);
      entries.announce(lane, allocation.now);
      return null;
    }
    const { until, node } = offered;
    const leaseId = offered.newId();
    if (row.kind === "call") lease.run(lane, row.home_rank, until, leaseId, node, row.entry_no);
    else lease.run(row.lane, until, until, leaseId, node, row.entry_no);
    if (row.kind === "call" && row.run_no !== null) begin.run(row.run_no);
    return toClaimed(row, leaseId, until);
  }

  /** A released entry needs no slot. */
  function freeSlots(no: EntryNo, row: unknown): void {
    const runNo = (row as { run_no: RunNo | null } | undefined)?.run_no ?? null;
    if (runNo !== null) limits.freeEntry(runNo, no);
  }

  /** The order of a key may wait for the last call of an ended run. */
  function removeEntry(no: EntryNo, leaseId: LeaseId): void {
    const row = remove.get(no, leaseId) as { run_no: RunNo | null } | undefined;
    freeSlots(no, row);
    if (row && row.run_no !== null) order.leave(row.run_no);
  }

  function letGo({ no, leaseId }: LeasedEntry, now: number): void {
    const row = release.get(no, leaseId, now) as { run_no: number | null; lane: string } | undefined;
    freeSlots(no, row);
    if (row) entries.announce(row.lane, now);
  }

  function recoverHeld(node: string, now: number): void {
    for (const row of recover.flatMap((statement) => statement.all(node, now))) freeSlots(row.entry_no as EntryNo, row);
  }

  function lanesInUse(): string[] {
    const found: string[] = [];
    for (let row = laneAfter.get(""); row; row = laneAfter.get(row.lane as string)) found.push(row.lane as string);
    if (nextDue.get()?.due != null) found.push(TIMER_LANE);
    return found;
  }

  return {
    queueClaimMany: (params) => writer.submit(() => claim(params), params.limit),
    queueRenew: ({ entries: held, until }) =>
      writer.submit(() => {
        const renewed = held.filter(({ no, leaseId }) => renew.run(no, leaseId, until).changes > 0);
        return new Set(renewed.map(({ leaseId }) => leaseId));
      }, held.length),
    queueRelease: ({ entries: held, now }) =>
      writer.submit(() => {
        for (const entry of held) letGo(entry, now);
      }, held.length),
    queueRecover: ({ node, now }) => writer.submit(() => recoverHeld(node, now)),
    queueDepths: () => reader.read("queueDepths", undefined),
    queueCallOf: (params) => reader.read("queueCallOf", params),
    queueFunctionDepths: () => reader.read("queueFunctionDepths", undefined),
    queueTry: ({ no, leaseId, phase }) => writer.submit(() => void trials[phase].count.run(no, leaseId)),
    queueAcquit: ({ no, leaseId, phase }) => writer.submit(() => void trials[phase].forget.run(no, leaseId)),
    queueLanes: async () => lanesInUse(),
    queueNextDue: async () => (nextDue.get()?.due as number | null | undefined) ?? null,
    queueReschedule: ({ no, leaseId, dueAt }) =>
      writer.submit(() => {
        freeSlots(no, reschedule.get(no, leaseId, dueAt));
        entries.announce(TIMER_LANE, dueAt);
      }),
    queueWatch: (listener) => entries.watch(listener),
    limitWatch: (listener) => limits.watch(listener),
    queueRemove: ({ no, leaseId }) => writer.submit(() => removeEntry(no, leaseId)),
    ...heldCallStore(db, { writer, limits, entries }),
  };
}

function toClaimed(row: QueueRow, leaseId: LeaseId, leasedUntil: number): ClaimedEntry {
  return {
    no: row.entry_no as EntryNo,
    leaseId,
    leasedUntil,
    kind: row.kind as EntryKind,
    environmentId: row.environment_id as EnvironmentId,
    lane: row.home_lane,
    rank: row.kind === "call" ? row.home_rank : row.rank,
    dueAt: row.due_at,
    runNo: row.run_no as RunNo | null,
    functionNo: row.function_no as FunctionNo,
    stepId: (row.step_id || null) as StepId | null,
    attempt: row.attempt,
    claims: row.claims + 1,
    trials: { calling: row.calling_trials, concluding: row.concluding_trials },
    subject: row.subject,
    eventSequence: row.event_no,
    endedRunNo: row.ended_run_no as RunNo | null,
    outcome: row.outcome === null ? null : (JSON.parse(row.outcome) as WaitOutcome),
  };
}
