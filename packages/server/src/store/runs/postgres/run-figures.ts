/** Figures about a function's runs: when its newest runs were created, started and ended, its ends, and its waits. */

import { eventIdTime, type FunctionNo, firstIdAt, type RunNo } from "@inlet/protocol";
import {
  RUN_STATUSES,
  type RunEndCount,
  type RunEndCountParams,
  type RunStore,
  type RunTiming,
  type RunTimingsParams,
} from "../../contract/index.ts";
import type { Database } from "../../postgres/database.ts";

const IN_TIME = "environment_id = $1 AND runs.function_no = f.function_no AND run_id >= $3 AND run_id < $4";
/** One for each partial index: completed runs have their own. */
const NEWEST = `
  SELECT r.* FROM unnest($2::integer[]) AS f(function_no), LATERAL (
    SELECT run_id, status, started_at, ended_at FROM runs
    WHERE ${IN_TIME} AND status = 'completed' ORDER BY run_id DESC LIMIT $5) AS r
  UNION ALL
  SELECT r.* FROM unnest($2::integer[]) AS f(function_no), unnest($6::text[]) AS s(status), LATERAL (
    SELECT run_id, status, started_at, ended_at FROM runs
    WHERE ${IN_TIME} AND runs.status = s.status AND runs.status <> 'completed' ORDER BY run_id DESC LIMIT $5) AS r
  ORDER BY run_id DESC LIMIT $5`;

interface TimingRow {
  run_id: string;
  status: RunTiming["status"];
  started_at: number | null;
  ended_at: number | null;
}

export async function timeRuns(
  database: Database,
  { environmentId, functionNos, from, to, limit }: RunTimingsParams,
): Promise<RunTiming[]> {
  const others = RUN_STATUSES.filter((status) => status !== "completed");
  const bound = [environmentId, functionNos, firstIdAt(from), firstIdAt(to), limit, others];
  const rows = await database.read<TimingRow>(NEWEST, bound);
  return rows.map(({ run_id, status, started_at, ended_at }) => ({
    status,
    createdAt: eventIdTime(run_id),
    startedAt: started_at,
    endedAt: ended_at,
  }));
}

/** The status is part of the text: only then are the partial indexes used. */
const endsOf = (status: string) => `
  SELECT count(*) FILTER (WHERE ended_at >= $4)::integer AS count, CASE WHEN count(*) = $3 THEN min(ended_at) END AS first FROM (
    SELECT ended_at FROM runs
    WHERE environment_id = $1 AND function_no = $2 AND status = '${status}' ORDER BY run_id DESC LIMIT $3) AS newest`;
const ENDS = { completed: endsOf("completed"), failed: endsOf("failed") };

export async function countEnds(
  database: Database,
  { environmentId, functionNo, status, since, limit }: RunEndCountParams,
): Promise<RunEndCount> {
  const bound = [environmentId, functionNo, limit, since];
  const [row] = await database.read<{ count: number; first: number | null }>(ENDS[status], bound);
  return { count: row?.count ?? 0, countedFrom: Math.max(since, row?.first ?? since) };
}

/** Runs are looked up separately, by constant numbers: with a join, PostgreSQL tends to read every partition. */
export async function countWaits(
  database: Database,
  { environmentId, eventName, limit }: Parameters<RunStore["waitCountByFunction"]>[0],
): Promise<{ functionNo: FunctionNo; waits: number }[]> {
  const waits = await database.read<{ run_no: RunNo }>(
    "SELECT run_no FROM waits WHERE environment_id = $1 AND event_name = $2 AND kind = 'event' LIMIT $3",
    [environmentId, eventName, limit],
  );
  const runs = await database.read<{ run_no: RunNo; function_no: FunctionNo }>(
    "SELECT run_no, function_no FROM runs WHERE environment_id = $1 AND run_no = ANY ($2::bigint[])",
    [environmentId, [...new Set(waits.map(({ run_no }) => run_no))]],
  );
  const functionOf = new Map(runs.map(({ run_no, function_no }) => [run_no, function_no]));
  const counts = new Map<FunctionNo, number>();
  for (const { run_no } of waits) {
    const no = functionOf.get(run_no);
    if (no !== undefined) counts.set(no, (counts.get(no) ?? 0) + 1);
  }
  return [...counts].map(([functionNo, count]) => ({ functionNo, waits: count }));
}
