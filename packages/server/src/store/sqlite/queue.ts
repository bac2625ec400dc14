/** Claiming, prolonging and recovering entries of the queue in SQLite. */

import type { DatabaseSync } from "node:sqlite";
import type { EntryNo, EnvironmentId, FunctionNo, RunNo, StepId } from "@inlet/protocol";
import { type ClaimedEntry, type EntryKind, type Lease, type QueueStore, TIMER_LANE } from "../contract/index.ts";
import { Handing } from "../rows/entry-writes.ts";
import type { GroupCommit } from "./group-commit.ts";
import type { Lanes } from "./lanes.ts";
import type { QueueEntries } from "./queue-entries.ts";
import type { Reader } from "./reader.ts";

/** How far a low priority may put an entry behind those that come after it. */
const RANK_AHEAD_MAX_MS = 43_200_000;

/** Leases are shorter than this by far; a clock that was set back further is made up for when they end. */
const LEASE_MS_MAX = 3_600_000;
/** Others wait for all of a transaction. */
const RENEWED_AT_ONCE = 500;

interface QueueRow {
  entry_no: number;
  environment_id: number;
  lane_no: number;
  home_lane_no: number;
  rank: number;
  due_at: number;
  kind: string;
  run_no: number | null;
  function_no: number;
  step_id: string;
  attempt: number;
  claims: number;
  trials: number;
  subject: string | null;
  event_no: number | null;
}

export function queueStore(db: DatabaseSync, writer: GroupCommit, reader: Reader, lanes: Lanes, entries: QueueEntries): QueueStore {
  const due = db.prepare(`
    SELECT entry_no, environment_id, lane_no, home_lane_no, rank, due_at, kind, run_no, function_no, step_id, attempt, claims, trials, subject, event_no
    FROM queue INDEXED BY queue_by_lane
    WHERE lane_no = ? AND rank <= ? AND due_at <= ? AND leased_by IS NOT ? ORDER BY rank LIMIT ?`);
  const hold = db.prepare("UPDATE queue SET lane_no = ?, rank = ?, due_at = ?, leased_by = ?, claims = claims + 1 WHERE entry_no = ?");
  const sendHome = db.prepare("UPDATE queue SET lane_no = home_lane_no WHERE entry_no = ?");
  const begin = db.prepare("UPDATE runs SET status = 'running' WHERE run_no = ? AND status = 'queued'");
  const renew = db.prepare("UPDATE queue SET rank = ?3, due_at = ?3 WHERE entry_no = ?1 AND leased_by = ?2");
  // Held entries are due when their lease ends: those that sleep for longer are not looked at.
  const recover = ["lane_no = 1 AND rank <= ?2 + ?3", "lane_no > 1 AND ?3 = ?3"].map((held) =>
    db.prepare(`UPDATE queue INDEXED BY queue_by_lane SET rank = ?2, due_at = ?2, leased_by = NULL WHERE leased_by = ?1 AND ${held}`),
  );
  const laneAfter = db.prepare("SELECT lane_no FROM queue WHERE lane_no > ? ORDER BY lane_no LIMIT 1");
  const nextDue = db.prepare("SELECT min(rank) AS due FROM queue WHERE lane_no = 1");
  const reschedule = db.prepare(
    "UPDATE queue SET lane_no = 1, rank = ?3, due_at = ?3, leased_by = NULL WHERE entry_no = ?1 AND leased_by = ?2",
  );
  const release = db.prepare(`
    UPDATE queue SET rank = ?3, due_at = ?3, leased_by = NULL, claims = max(claims - 1, 0), trials = max(trials - 1, 0)
    WHERE entry_no = ?1 AND leased_by = ?2`);
  const noteTrial = db.prepare("UPDATE queue SET trials = trials + 1 WHERE entry_no = ? AND leased_by = ?");
  const remove = db.prepare("DELETE FROM queue WHERE entry_no = ? AND leased_by = ?");
  const lanesAfter = db.prepare("SELECT lane_no, key FROM lanes WHERE lane_no > max(?, 1) ORDER BY lane_no LIMIT ?");
  // The last number stays, so that none is given out again: runs that have ended still have the number of their lane.
  const forgetLane = db.prepare(`
    DELETE FROM lanes WHERE lane_no = ?1 AND lane_no < (SELECT max(lane_no) FROM lanes)
      AND NOT EXISTS (SELECT 1 FROM queue INDEXED BY queue_by_lane WHERE lane_no = ?1)
      AND NOT EXISTS (SELECT 1 FROM queue INDEXED BY queue_by_home_lane WHERE home_lane_no = ?1 AND lane_no <> home_lane_no)`);

  /** Calls among the timers belong elsewhere: they are taken if their own lane has room, and else wait there. */
  function take(row: QueueRow, lease: Lease, handing: Handing): ClaimedEntry | null {
    const lane = lanes.key(row.home_lane_no);
    if (row.kind === "call" && row.lane_no !== row.home_lane_no && !handing.take(lane)) {
      sendHome.run(row.entry_no);
      entries.announce(lane, handing.now);
      return null;
    }
    const laneNo = row.kind === "call" ? row.home_lane_no : row.lane_no;
    hold.run(laneNo, lease.until, lease.until, lease.node, row.entry_no);
    if (row.kind === "call" && row.run_no !== null) begin.run(row.run_no);
    return toClaimed(row, lane);
  }

  function claim(lane: string, limit: number, now: number, lease: Lease): { claimed: ClaimedEntry[]; more: boolean } {
    const rankMax = lane === TIMER_LANE ? now : now + RANK_AHEAD_MAX_MS;
    const rows = due.all(lanes.no(lane), rankMax, now, lease.node, limit) as unknown as QueueRow[];
    const handing = new Handing(now, lease);
    return { claimed: rows.flatMap((row) => take(row, lease, handing) ?? []), more: rows.length === limit };
  }

  function lanesInUse(): string[] {
    const found: string[] = [];
    for (let row = laneAfter.get(0); row; row = laneAfter.get(row.lane_no as number)) found.push(lanes.key(row.lane_no as number));
    return found;
  }

  /** Runs that have ended no longer say which lane they stood in; all others have an entry that does. */
  function forgetLanes(after: number, limit: number): { forgotten: number; reached: number | null } {
    const rows = lanesAfter.all(after, limit) as { lane_no: number; key: string }[];
    const forgotten = rows.filter(({ lane_no }) => forgetLane.run(lane_no).changes > 0).length;
    if (forgotten > 0) lanes.forget();
    return { forgotten, reached: rows.length < limit ? null : (rows.at(-1)?.lane_no ?? null) };
  }

  return {
    queueClaimMany: ({ lane, limit, now, lease }) => writer.submit(() => claim(lane, limit, now, lease), limit),
    async queueRenew({ entries: held, node, until }) {
      for (let n = 0; n < held.length; n += RENEWED_AT_ONCE) {
        const some = held.slice(n, n + RENEWED_AT_ONCE);
        await writer.submit(() => {
          for (const { no } of some) renew.run(no, node, until);
        }, some.length);
      }
    },
    queueRelease: ({ entries: held, node, now }) =>
      writer.submit(() => {
        for (const { no } of held) release.run(no, node, now);
      }, held.length),
    queueRecover: ({ node, now }) =>
      writer.submit(() => {
        for (const statement of recover) statement.run(node, now, LEASE_MS_MAX);
      }),
    queueDepths: () => reader.read("queueDepths", undefined),
    queueTry: ({ no, node }) => writer.submit(() => void noteTrial.run(no, node)),
    queueLanes: async () => lanesInUse(),
    queueNextDue: async () => (nextDue.get()?.due as number | null | undefined) ?? null,
    queueReschedule: ({ no, node, dueAt }) =>
      writer.submit(() => {
        reschedule.run(no, node, dueAt);
        entries.announce(TIMER_LANE, dueAt);
      }),
    // One process at a time: nobody else could have them.
    queueLimitHold: async () => true,
    queueLimitRelease: async () => undefined,
    queueWatch: (listener) => entries.watch(listener),
    queueRemove: ({ no, node }) => writer.submit(() => void remove.run(no, node)),
    queueLaneForgetMany: ({ after, limit }) => writer.submit(() => forgetLanes(after, limit), limit),
  };
}

function toClaimed(row: QueueRow, lane: string): ClaimedEntry {
  return {
    no: row.entry_no as EntryNo,
    kind: row.kind as EntryKind,
    environmentId: row.environment_id as EnvironmentId,
    lane,
    rank: row.rank,
    dueAt: row.due_at,
    runNo: row.run_no as RunNo | null,
    functionNo: row.function_no as FunctionNo,
    stepId: (row.step_id || null) as StepId | null,
    attempt: row.attempt,
    claims: row.claims + 1,
    trials: row.trials,
    subject: row.subject,
    eventSequence: row.event_no,
  };
}
