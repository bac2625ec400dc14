/** The length of the queue, on the read thread: queried every few seconds, so it must stay cheap with a million waiting calls. */

import type { DatabaseSync } from "node:sqlite";
import type { EnvironmentId, FunctionNo } from "@inlet/protocol";
import { type FunctionQueueDepth, type QueueDepth, TIMER_LANE } from "../../contract/index.ts";

/**
 * Lanes are counted from the index alone; only the first entry of each is read. The rank of a leased entry is the end of its lease,
 * so if a lane has any unleased entry, its first entry is unleased.
 */
const DEPTHS = `
  SELECT first.environment_id, sum(counted.waiting) AS waiting, min(iif(first.leased_by IS NULL, first.due_at, NULL)) AS oldest
  FROM (SELECT lane, count(*) AS waiting FROM queue INDEXED BY queue_by_lane WHERE lane <> '${TIMER_LANE}' GROUP BY lane) AS counted
  CROSS JOIN queue AS first ON first.entry_no = (
    SELECT entry_no FROM queue INDEXED BY queue_by_lane WHERE lane = counted.lane AND lane <> '${TIMER_LANE}' ORDER BY rank LIMIT 1)
  GROUP BY first.environment_id`;

const FUNCTION_DEPTHS = `
  SELECT environment_id, function_no, count(*) AS waiting, min(iif(leased_by IS NULL, due_at, NULL)) AS oldest
  FROM queue WHERE lane <> '${TIMER_LANE}' GROUP BY environment_id, function_no`;

export function queueFunctionDepths(db: DatabaseSync): FunctionQueueDepth[] {
  return db
    .prepare(FUNCTION_DEPTHS)
    .all()
    .map(({ environment_id, function_no, waiting, oldest }) => ({
      environmentId: environment_id as EnvironmentId,
      functionNo: function_no as FunctionNo,
      waiting: waiting as number,
      oldestDueAt: oldest as number | null,
    }));
}

export function queueDepths(db: DatabaseSync): QueueDepth[] {
  return db
    .prepare(DEPTHS)
    .all()
    .map(({ environment_id, waiting, oldest }) => ({
      environmentId: environment_id as EnvironmentId,
      waiting: waiting as number,
      oldestDueAt: oldest as number | null,
    }));
}
