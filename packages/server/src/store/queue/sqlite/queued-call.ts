/** The next call of a run, and what holds it up, in SQLite. */

import type { DatabaseSync } from "node:sqlite";
import type { RunId } from "@inlet/protocol";
import type { QueuedCall, RunKey } from "../../contract/index.ts";

const CALL = `
  SELECT lane, home_lane AS homeLane, due_at AS dueAt, leased_by IS NOT NULL AS isLeased, attempt FROM queue
  WHERE run_no = ? AND kind = 'call' ORDER BY leased_by IS NULL, due_at LIMIT 1`;
const BEHIND = `
  SELECT runs.run_id AS runId, other.state = 'held' AS isHeld
  FROM ordered_runs AS own
  JOIN ordered_runs AS other ON other.function_no = own.function_no AND other.key = own.key AND other.run_no <> own.run_no
    AND (other.state <> 'waiting' OR other.position < own.position)
  LEFT JOIN runs ON runs.run_no = other.run_no
  WHERE own.run_no = ? AND own.state = 'waiting' ORDER BY other.state = 'waiting', other.position LIMIT 1`;

export function queuedCall(db: DatabaseSync, { runNo }: RunKey): QueuedCall | null {
  const call = db.prepare(CALL).get(runNo) as
    | { lane: string; homeLane: string; dueAt: number; isLeased: number; attempt: number }
    | undefined;
  if (!call) return null;
  const behind = db.prepare(BEHIND).get(runNo) as { runId: RunId | null; isHeld: number } | undefined;
  return {
    ...call,
    isLeased: call.isLeased === 1,
    behind: behind ? { runId: behind.runId, isHeld: behind.isHeld === 1 } : null,
  };
}
