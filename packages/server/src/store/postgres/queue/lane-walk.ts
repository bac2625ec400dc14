/** Finds lanes by skipping through their index instead of reading the whole queue. The lane of timers is not included. */

import { TIMER_LANE_NO } from "./lanes.ts";

/** The environment and number of every lane that contains work, as `walk`. */
export const LANE_WALK = `
  WITH RECURSIVE walk AS (
    (SELECT environment_id, lane_no FROM queue WHERE lane_no <> ${TIMER_LANE_NO} ORDER BY environment_id, lane_no LIMIT 1)
    UNION ALL
    SELECT next.environment_id, next.lane_no FROM walk CROSS JOIN LATERAL (
      SELECT q.environment_id, q.lane_no FROM queue AS q
      WHERE q.lane_no <> ${TIMER_LANE_NO} AND (q.environment_id, q.lane_no) > (walk.environment_id, walk.lane_no)
      ORDER BY q.environment_id, q.lane_no LIMIT 1) AS next
  )`;
