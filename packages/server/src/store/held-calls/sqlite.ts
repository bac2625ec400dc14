/**
 * Calls of functions that are paused, or whose environment is archived, in SQLite: in the lane of timers, never due. And calls of functions
 * that were limited meanwhile.
 */

import type { DatabaseSync } from "node:sqlite";
import type { FunctionNo, RunNo } from "@inlet/protocol";
import { HELD_UNTIL, type QueueStore, TIMER_LANE } from "../contract/index.ts";
import type { Limits } from "../limits/sqlite.ts";
import { IS_PAUSED, type QueueEntries } from "../queue/sqlite/queue-entries.ts";
import type { GroupCommit } from "../sqlite/group-commit.ts";
import { heldUntil } from "./policy.ts";

export interface HeldCallParts {
  writer: GroupCommit;
  limits: Limits;
  entries: QueueEntries;
}

export function heldCallStore(
  db: DatabaseSync,
  { writer, limits, entries }: HeldCallParts,
): Pick<QueueStore, "queueHold" | "queueMove" | "queueTakeSlots" | "queueUnhold" | "queueHeld" | "queueHeldRuns"> {
  const isPaused = db.prepare(IS_PAUSED);
  const isUnfinished = db.prepare("SELECT 1 FROM runs WHERE run_no = ? AND ended_at IS NULL");
  const hold = db.prepare(`
    UPDATE queue SET lane = '${TIMER_LANE}', rank = ?3, due_at = ?3, lease_id = NULL, leased_by = NULL, claims = max(claims - 1, 0)
    WHERE entry_no = ?1 AND lease_id = ?2`);
  const waitAgain = db.prepare("UPDATE runs SET status = 'queued' WHERE run_no = ? AND status = 'running' AND started_at IS NULL");
  const move = db.prepare(`
    UPDATE queue SET lane = ?3, home_lane = ?3, rank = home_rank, due_at = ?4, lease_id = NULL, leased_by = NULL, claims = max(claims - 1, 0)
    WHERE entry_no = ?1 AND lease_id = ?2`);
  const moveRun = db.prepare("UPDATE runs SET lane = ? WHERE run_no = ?");
  const holder = db.prepare("SELECT run_no FROM queue WHERE entry_no = ? AND lease_id = ? AND run_no IS NOT NULL");
  const unhold = db.prepare(`
    UPDATE queue SET rank = ?1, due_at = ?1 WHERE entry_no IN (
      SELECT entry_no FROM environments AS e CROSS JOIN functions AS f ON f.environment_id = e.environment_id
      CROSS JOIN apps AS a ON a.app_no = f.app_no
      CROSS JOIN queue INDEXED BY queue_held ON queue.function_no = f.function_no
      WHERE (f.paused_at IS NULL OR a.removed_at IS NOT NULL) AND e.archived_at IS NULL AND due_at = ${HELD_UNTIL} LIMIT ?2)`);
  const counts = db.prepare(`
    SELECT function_no, count(DISTINCT run_no) AS runs FROM queue INDEXED BY queue_held
    WHERE due_at = ${HELD_UNTIL} AND function_no IN (SELECT function_no FROM functions WHERE environment_id = ?) GROUP BY function_no`);
  const runs = db.prepare(`
    SELECT DISTINCT run_no FROM queue INDEXED BY queue_held
    WHERE due_at = ${HELD_UNTIL} AND function_no = ? AND run_no IS NOT NULL ORDER BY run_no LIMIT ?`);

  return {
    queueHold: ({ no, leaseId, runNo, functionNo, now }) =>
      writer.submit(() => {
        const dueAt = heldUntil({ isPaused: isPaused.get(functionNo) !== undefined, hasEnded: !isUnfinished.get(runNo) }, now);
        if (hold.run(no, leaseId, dueAt).changes === 0) return;
        limits.freeEntry(runNo, no);
        waitAgain.run(runNo);
        entries.announce(TIMER_LANE, dueAt);
      }),
    queueMove: ({ no, leaseId, runNo, lane, now }) =>
      writer.submit(() => {
        if (move.run(no, leaseId, lane, now).changes === 0) return;
        moveRun.run(lane, runNo);
        limits.freeEntry(runNo, no);
        waitAgain.run(runNo);
        entries.announce(lane, now);
      }),
    queueTakeSlots: ({ calls }) =>
      writer.submit(() => {
        for (const { no, leaseId, limits: taken } of calls) {
          const row = holder.get(no, leaseId);
          if (row) limits.takeForEntry(taken, row.run_no as RunNo, no);
        }
      }, calls.length),
    queueUnhold: ({ now, limit }) =>
      writer.submit(() => {
        const count = Number(unhold.run(now, limit).changes);
        if (count > 0) entries.announce(TIMER_LANE, now);
        return count;
      }, limit),
    queueHeld: async ({ environmentId }) =>
      counts.all(environmentId).map((row) => ({ functionNo: row.function_no as FunctionNo, runs: row.runs as number })),
    queueHeldRuns: async ({ functionNo, limit }) => runs.all(functionNo, limit).map(({ run_no }) => run_no as RunNo),
  };
}
