/** The length of the queue, on the read thread: queried every few seconds, so it must stay cheap with a million waiting calls. */

import type { DatabaseSync } from "node:sqlite";
import type { EnvironmentId, FunctionNo } from "@inlet/protocol";
import type { FunctionQueueDepth, QueueDepth } from "../../contract/index.ts";
import { TIMER_LANE } from "../contract.ts";

const FIRST = `FROM queue INDEXED BY queue_by_lane WHERE queue.lane = counted.lane AND queue.lane <> '${TIMER_LANE}'`;
/** Whether a lane of ordered runs is one whose key is on hold: all runs of a lane have the same key. */
const IS_ON_HOLD = `counted.lane >= 'order:' AND counted.lane < 'order;' AND EXISTS (
  SELECT 1 FROM ordered_runs AS own
  JOIN ordered_runs AS hold ON hold.function_no = own.function_no AND hold.key = own.key AND hold.state = 'held'
  WHERE own.run_no = (SELECT run_no ${FIRST} LIMIT 1))`;
/** Lanes are counted from the index alone. Of each, the entries up to the first one that is not leased are read: nodes lease few of a lane. */
const DEPTHS = `
  SELECT (SELECT environment_id ${FIRST} LIMIT 1) AS environment_id, sum(counted.waiting) AS waiting,
    min(iif(${IS_ON_HOLD}, NULL, (SELECT due_at ${FIRST} AND leased_by IS NULL ORDER BY rank LIMIT 1))) AS oldest
  FROM (SELECT lane, count(*) AS waiting FROM queue INDEXED BY queue_by_lane WHERE lane <> '${TIMER_LANE}' GROUP BY lane) AS counted
  GROUP BY 1`;

const FUNCTION_DEPTHS = `
  SELECT environment_id, function_no, sum(counted.waiting) AS waiting, min(iif(${IS_ON_HOLD}, NULL, counted.oldest)) AS oldest
  FROM (
    SELECT environment_id, function_no, lane, count(*) AS waiting, min(iif(leased_by IS NULL, due_at, NULL)) AS oldest
    FROM queue WHERE lane <> '${TIMER_LANE}' GROUP BY environment_id, function_no, lane) AS counted
  GROUP BY environment_id, function_no`;

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
