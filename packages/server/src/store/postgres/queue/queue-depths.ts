/** The length of the queue: queried every few seconds, so it must stay cheap with a million waiting calls. */

import type { EnvironmentId, FunctionNo } from "@inlet/protocol";
import { type FunctionQueueDepth, type QueueDepth, TIMER_LANE } from "../../contract/index.ts";
import type { Database } from "../database.ts";

/**
 * Lanes are counted from the index alone; only the first entry of each is read. The rank of a leased entry is the end of its lease,
 * so if a lane has any unleased entry, its first entry is unleased.
 */
const DEPTHS = `
  SELECT first.environment_id, sum(counted.waiting)::bigint AS waiting, min(first.due_at) FILTER (WHERE first.lease_id IS NULL) AS oldest
  FROM (SELECT lane, count(*) AS waiting FROM queue WHERE lane <> '${TIMER_LANE}' GROUP BY lane) AS counted
  CROSS JOIN LATERAL (
    SELECT environment_id, lease_id, due_at FROM queue
    WHERE queue.lane = counted.lane AND queue.lane <> '${TIMER_LANE}' ORDER BY rank LIMIT 1) AS first
  GROUP BY first.environment_id`;

const FUNCTION_DEPTHS = `
  SELECT environment_id, function_no, count(*) AS waiting, min(due_at) FILTER (WHERE lease_id IS NULL) AS oldest
  FROM queue WHERE lane <> '${TIMER_LANE}' GROUP BY environment_id, function_no`;

interface FunctionDepthRow {
  environment_id: EnvironmentId;
  function_no: FunctionNo;
  waiting: number;
  oldest: number | null;
}

export async function queueFunctionDepths(database: Database): Promise<FunctionQueueDepth[]> {
  const rows = await database.query<FunctionDepthRow>(FUNCTION_DEPTHS);
  return rows.map(({ environment_id: environmentId, function_no: functionNo, waiting, oldest: oldestDueAt }) => ({
    ...{ environmentId, functionNo, waiting, oldestDueAt },
  }));
}

export async function queueDepths(database: Database): Promise<QueueDepth[]> {
  const rows = await database.query<{ environment_id: EnvironmentId; waiting: number; oldest: number | null }>(DEPTHS);
  return rows.map(({ environment_id, waiting, oldest }) => ({ environmentId: environment_id, waiting, oldestDueAt: oldest }));
}
