/** The length of the queue, on the read thread: queried every few seconds, so it must stay cheap with a million waiting calls. */

import type { DatabaseSync } from "node:sqlite";
import type { EnvironmentId, FunctionNo } from "@inlet/protocol";
import { type FunctionQueueDepth, type QueueDepth, TIMER_LANE } from "../../contract/index.ts";

const FIRST = `FROM queue INDEXED BY queue_by_lane WHERE lane = counted.lane AND lane <> '${TIMER_LANE}'`;
/** Lanes are counted from the index alone. Of each, the entries up to the first one that is not leased are read: nodes lease few of a lane. */
const DEPTHS = `
  SELECT (SELECT environment_id ${FIRST} LIMIT 1) AS environment_id, sum(counted.waiting) AS waiting,
    min((SELECT due_at ${FIRST} AND leased_by IS NULL ORDER BY rank LIMIT 1)) AS oldest
  FROM (SELECT lane, count(*) AS waiting FROM queue INDEXED BY queue_by_lane WHERE lane <> '${TIMER_LANE}' GROUP BY lane) AS counted
  GROUP BY 1`;

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
