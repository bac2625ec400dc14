/** The length of the queue: queried every few seconds, so it must stay cheap with a million waiting calls. */

import type { EnvironmentId, FunctionNo } from "@inlet/protocol";
import { type FunctionQueueDepth, type QueueDepth, TIMER_LANE } from "../../contract/index.ts";
import type { Database } from "../../postgres/database.ts";

const FIRST = `FROM queue WHERE queue.lane = counted.lane AND queue.lane <> '${TIMER_LANE}'`;
/** Whether a lane of ordered runs is one whose key is on hold: all runs of a lane have the same key. */
const IS_ON_HOLD = `counted.lane LIKE 'order:%' AND EXISTS (
  SELECT 1 FROM (SELECT environment_id, run_no ${FIRST} LIMIT 1) AS first
  JOIN ordered_runs AS own ON own.environment_id = first.environment_id AND own.run_no = first.run_no
  JOIN ordered_runs AS hold ON hold.environment_id = own.environment_id AND hold.function_no = own.function_no AND hold.key = own.key
    AND hold.state = 'held')`;
/** Lanes are counted from the index alone. Of each, the entries up to the first one that is not leased are read: nodes lease few of a lane. */
const DEPTHS = `
  SELECT any_entry.environment_id, sum(counted.waiting)::bigint AS waiting,
    min(next.due_at) FILTER (WHERE NOT (${IS_ON_HOLD})) AS oldest
  FROM (SELECT lane, count(*) AS waiting FROM queue WHERE lane <> '${TIMER_LANE}' GROUP BY lane) AS counted
  CROSS JOIN LATERAL (SELECT environment_id ${FIRST} LIMIT 1) AS any_entry
  LEFT JOIN LATERAL (SELECT due_at ${FIRST} AND lease_id IS NULL ORDER BY rank LIMIT 1) AS next ON true
  GROUP BY any_entry.environment_id`;

const FUNCTION_DEPTHS = `
  SELECT environment_id, function_no, sum(counted.waiting)::bigint AS waiting,
    min(counted.oldest) FILTER (WHERE NOT (${IS_ON_HOLD})) AS oldest
  FROM (
    SELECT environment_id, function_no, lane, count(*) AS waiting, min(due_at) FILTER (WHERE lease_id IS NULL) AS oldest
    FROM queue WHERE lane <> '${TIMER_LANE}' GROUP BY environment_id, function_no, lane) AS counted
  GROUP BY environment_id, function_no`;

interface FunctionDepthRow {
  environment_id: EnvironmentId;
  function_no: FunctionNo;
  waiting: number;
  oldest: number | null;
}

export async function queueFunctionDepths(database: Database): Promise<FunctionQueueDepth[]> {
  const rows = await database.read<FunctionDepthRow>(FUNCTION_DEPTHS);
  return rows.map(({ environment_id: environmentId, function_no: functionNo, waiting, oldest: oldestDueAt }) => ({
    environmentId,
    functionNo,
    waiting,
    oldestDueAt,
  }));
}

export async function queueDepths(database: Database): Promise<QueueDepth[]> {
  const rows = await database.read<{ environment_id: EnvironmentId; waiting: number; oldest: number | null }>(DEPTHS);
  return rows.map(({ environment_id, waiting, oldest }) => ({ environmentId: environment_id, waiting, oldestDueAt: oldest }));
}
