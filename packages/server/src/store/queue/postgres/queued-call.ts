/** The next call of a run, and what holds it up, in PostgreSQL. */

import type { QueuedCall, RunKey } from "../../contract/index.ts";
import type { Database } from "../../postgres/database.ts";

const CALL = `
  SELECT lane, home_lane AS "homeLane", due_at AS "dueAt", leased_by IS NOT NULL AS "isLeased", attempt FROM queue
  WHERE environment_id = $1 AND run_no = $2 AND kind = 'call' ORDER BY leased_by IS NULL, due_at LIMIT 1`;
const BEHIND = `
  SELECT runs.run_id AS "runId", other.state = 'held' AS "isHeld"
  FROM ordered_runs AS own
  JOIN ordered_runs AS other ON other.environment_id = own.environment_id AND other.function_no = own.function_no AND other.key = own.key
    AND other.run_no <> own.run_no AND (other.state <> 'waiting' OR other.position < own.position)
  LEFT JOIN runs ON runs.environment_id = other.environment_id AND runs.run_no = other.run_no
  WHERE own.environment_id = $1 AND own.run_no = $2 AND own.state = 'waiting' ORDER BY other.state = 'waiting', other.position LIMIT 1`;

export async function queuedCall(database: Database, { environmentId, runNo }: RunKey): Promise<QueuedCall | null> {
  const [[call], [behind]] = await Promise.all([
    database.read<Omit<QueuedCall, "behind">>(CALL, [environmentId, runNo]),
    database.read<NonNullable<QueuedCall["behind"]>>(BEHIND, [environmentId, runNo]),
  ]);
  return call ? { ...call, behind: behind ?? null } : null;
}
