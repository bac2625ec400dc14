/** The length of the queue: queried every few seconds, so it must stay cheap with a million waiting calls. */

import type { EnvironmentId, FunctionNo } from "@inlet/protocol";
import type { FunctionQueueDepth, QueueDepth } from "../../contract/index.ts";
import type { Database } from "../database.ts";
import { TIMER_LANE_NO } from "./lanes.ts";

/**
 * Lanes are counted from the index alone; only the first entry of each is read. The rank of a leased entry is the end of its lease,
 * so if a lane has any unleased entry, its first entry is unleased.
 */
const DEPTHS = `
  SELECT environment_id, sum(counted.waiting)::bigint AS waiting, min(first.due_at) FILTER (WHERE first.lease_id IS NULL) AS oldest
  FROM (SELECT environment_id, lane_no, count(*) AS waiting FROM queue WHERE lane_no <> ${TIMER_LANE_NO} GROUP BY 1, 2) AS counted
  CROSS JOIN LATERAL (
    SELECT lease_id, due_at FROM queue
    WHERE queue.environment_id = counted.environment_id AND queue.lane_no = counted.lane_no AND queue.lane_no <> ${TIMER_LANE_NO}
    ORDER BY rank LIMIT 1) AS first
  GROUP BY environment_id`;

const FUNCTION_DEPTHS = `
  SELECT environment_id, function_no, count(*) AS waiting, min(due_at) FILTER (WHERE lease_id IS NULL) AS oldest
  FROM queue WHERE lane_no <> ${TIMER_LANE_NO} GROUP BY environment_id, function_no`;

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
