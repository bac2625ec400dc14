/** Figures about a function's runs, on the read thread: when its newest runs were created, started and ended, its ends, and its waits. */

import type { DatabaseSync } from "node:sqlite";
import type { FunctionNo } from "@inlet/protocol";
import { eventIdTime, firstIdAt } from "@inlet/protocol/event-id";
import type { RunEndCount, RunEndCountParams, RunStore, RunTiming, RunTimingsParams } from "../../contract/index.ts";
import { RUN_STATUSES } from "../contract/runs.ts";

const COLUMNS = "run_id, status, started_at, ended_at";
const IN_TIME = "environment_id = ? AND function_no = ? AND run_id >= ? AND run_id < ?";
/** One for each partial index: completed runs have their own. */
const COMPLETED = `SELECT ${COLUMNS} FROM runs INDEXED BY runs_completed_by_function
  WHERE ${IN_TIME} AND status = 'completed' ORDER BY run_id DESC LIMIT ?`;
const OTHERS = `SELECT ${COLUMNS} FROM runs INDEXED BY runs_by_function_and_status
  WHERE ${IN_TIME} AND status = ? AND status <> 'completed' ORDER BY run_id DESC LIMIT ?`;

interface TimingRow {
  run_id: string;
  status: RunTiming["status"];
  started_at: number | null;
  ended_at: number | null;
}

export function timeRuns(db: DatabaseSync, { environmentId, functionNos, from, to, limit }: RunTimingsParams): RunTiming[] {
  const rows = functionNos.flatMap((no) =>
    RUN_STATUSES.flatMap((status) => {
      const bound = [environmentId, no, firstIdAt(from), firstIdAt(to)];
      if (status === "completed") return db.prepare(COMPLETED).all(...bound, limit) as unknown as TimingRow[];
      return db.prepare(OTHERS).all(...bound, status, limit) as unknown as TimingRow[];
    }),
  );
  const newest = rows.sort((a, b) => (a.run_id < b.run_id ? 1 : -1)).slice(0, limit);
  return newest.map(({ run_id, status, started_at, ended_at }) => ({
    status,
    createdAt: eventIdTime(run_id),
    startedAt: started_at,
    endedAt: ended_at,
  }));
}

const endsOf = (index: string, isStatus: string) => `
  SELECT count(*) FILTER (WHERE ended_at >= ?4) AS count, CASE WHEN count(*) = ?3 THEN min(ended_at) END AS first FROM (
    SELECT ended_at FROM runs INDEXED BY ${index}
    WHERE environment_id = ?1 AND function_no = ?2 AND ${isStatus} ORDER BY run_id DESC LIMIT ?3)`;
const ENDS = {
  completed: endsOf("runs_completed_by_function", "status = 'completed'"),
  failed: endsOf("runs_by_function_and_status", "status = 'failed' AND status <> 'completed'"),
};

export function countEnds(db: DatabaseSync, { environmentId, functionNo, status, since, limit }: RunEndCountParams): RunEndCount {
  const row = db.prepare(ENDS[status]).get(environmentId, functionNo, limit, since);
  const { count, first } = row as { count: number; first: number | null };
  return { count, countedFrom: Math.max(since, first ?? since) };
}

const WAITS = `
  SELECT function_no AS functionNo, count(*) AS waits
  FROM (SELECT run_no FROM waits WHERE environment_id = ? AND event_name = ? AND kind = 'event' LIMIT ?)
  JOIN runs USING (run_no) GROUP BY function_no`;

export function countWaits(
  db: DatabaseSync,
  { environmentId, eventName, limit }: Parameters<RunStore["waitCountByFunction"]>[0],
): { functionNo: FunctionNo; waits: number }[] {
  return db.prepare(WAITS).all(environmentId, eventName, limit) as { functionNo: FunctionNo; waits: number }[];
}
