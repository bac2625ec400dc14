/** Finds lanes by skipping through their index instead of reading the whole queue. The lane of timers has its own index. */

import { TIMER_LANE } from "../../contract/index.ts";

/** Every other lane that contains work, as `walk`. */
export const LANE_WALK = `
  WITH RECURSIVE walk AS (
    (SELECT lane FROM queue WHERE lane <> '${TIMER_LANE}' ORDER BY lane LIMIT 1)
    UNION ALL
    SELECT next.lane FROM walk CROSS JOIN LATERAL (
      SELECT q.lane FROM queue AS q WHERE q.lane <> '${TIMER_LANE}' AND q.lane > walk.lane ORDER BY q.lane LIMIT 1) AS next
  )`;
