/** Claiming, prolonging and recovering entries of the queue in SQLite. */

import type { DatabaseSync } from "node:sqlite";
import type { EntryNo, EnvironmentId, FunctionNo, RunNo, StepId } from "@inlet/protocol";
import { type ClaimedEntry, type EntryKind, type Lease, type QueueStore, TIMER_LANE } from "../contract/index.ts";
import { Handing } from "../rows/entry-writes.ts";
import type { GroupCommit } from "./group-commit.ts";
import type { Lanes } from "./lanes.ts";
import type { QueueEntries } from "./queue-entries.ts";

/** How far a low priority may put an entry behind those that come after it. */
const RANK_AHEAD_MAX_MS = 43_200_000;

interface QueueRow {
  entry_no: number;
  environment_id: number;
  lane_no: number;
  home_lane_no: number;
  rank: number;
  kind: string;
  run_no: number | null;
  function_no: number;
  step_id: string;
  attempt: number;
  claims: number;
  subject: string | null;
  event_no: number | null;
}

export function queueStore(db: DatabaseSync, writer: GroupCommit, lanes: Lanes, entries: QueueEntries): QueueStore {
  const due = db.prepare(`
    SELECT entry_no, environment_id, lane_no, home_lane_no, rank, kind, run_no, function_no, step_id, attempt, claims, subject, event_no
    FROM queue WHERE lane_no = ? AND rank <= ? AND due_at <= ? ORDER BY rank LIMIT ?`);
  const hold = db.prepare("UPDATE queue SET lane_no = ?, rank = ?, due_at = ?, leased_by = ?, claims = claims + 1 WHERE entry_no = ?");
  const sendHome = db.prepare("UPDATE queue SET lane_no = home_lane_no WHERE entry_no = ?");
  const begin = db.prepare("UPDATE runs SET status = 'running' WHERE run_no = ? AND status = 'queued'");
  const renew = db.prepare("UPDATE queue SET rank = ?2, due_at = ?2 WHERE entry_no = ?1 AND leased_by IS NOT NULL");
  const recover = db.prepare("UPDATE queue SET rank = ?2, due_at = ?2, leased_by = NULL WHERE leased_by = ?1");
  const laneAfter = db.prepare("SELECT lane_no FROM queue WHERE lane_no > ? ORDER BY lane_no LIMIT 1");
  const nextDue = db.prepare("SELECT min(rank) AS due FROM queue WHERE lane_no = 1");
  const reschedule = db.prepare("UPDATE queue SET rank = ?2, due_at = ?2, leased_by = NULL, claims = 0 WHERE entry_no = ?1");
  const remove = db.prepare("DELETE FROM queue WHERE entry_no = ?");

  /** Calls among the timers belong elsewhere: they are taken if their own lane has room, and else wait there. */
  function take(row: QueueRow, lease: Lease, handing: Handing): ClaimedEntry | null {
    const lane = lanes.key(row.home_lane_no);
    if (row.kind === "call" && row.lane_no !== row.home_lane_no && !handing.take(lane)) {
      sendHome.run(row.entry_no);
      return null;
    }
    const laneNo = row.kind === "call" ? row.home_lane_no : row.lane_no;
    hold.run(laneNo, lease.until, lease.until, lease.node, row.entry_no);
    if (row.kind === "call" && row.run_no !== null) begin.run(row.run_no);
    return toClaimed(row, lane);
  }

  function claim(lane: string, limit: number, now: number, lease: Lease): { claimed: ClaimedEntry[]; more: boolean } {
    const rankMax = lane === TIMER_LANE ? now : now + RANK_AHEAD_MAX_MS;
    const rows = due.all(lanes.no(lane), rankMax, now, limit) as unknown as QueueRow[];
    const handing = new Handing(now, lease);
    return { claimed: rows.flatMap((row) => take(row, lease, handing) ?? []), more: rows.length === limit };
  }

  function lanesInUse(): string[] {
    const found: string[] = [];
    for (let row = laneAfter.get(0); row; row = laneAfter.get(row.lane_no as number)) found.push(lanes.key(row.lane_no as number));
    return found;
  }

  return {
    queueClaimMany: ({ lane, limit, now, lease }) => writer.submit(() => claim(lane, limit, now, lease), limit),
    queueRenew: ({ entryNos, until }) =>
      writer.submit(() => {
        for (const no of entryNos) renew.run(no, until);
      }, entryNos.length),
    queueRecover: ({ node, now }) => writer.submit(() => void recover.run(node, now)),
    queueLanes: async () => lanesInUse(),
    queueNextDue: async () => (nextDue.get()?.due as number | null | undefined) ?? null,
    queueReschedule: ({ no, dueAt }) => writer.submit(() => void reschedule.run(no, dueAt)),
    queueWatch: (listener) => entries.watch(listener),
    queueRemove: ({ no }) => writer.submit(() => void remove.run(no)),
  };
}

function toClaimed(row: QueueRow, lane: string): ClaimedEntry {
  return {
    no: row.entry_no as EntryNo,
    kind: row.kind as EntryKind,
    environmentId: row.environment_id as EnvironmentId,
    lane,
    rank: row.rank,
    runNo: row.run_no as RunNo | null,
    functionNo: row.function_no as FunctionNo,
    stepId: (row.step_id || null) as StepId | null,
    attempt: row.attempt,
    claims: row.claims + 1,
    subject: row.subject,
    eventSequence: row.event_no,
  };
}
