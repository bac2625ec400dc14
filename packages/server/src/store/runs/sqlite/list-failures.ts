/** Failed runs grouped by function and error, on the read thread. */

import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import { setImmediate as nextTick } from "node:timers/promises";
import { firstIdAt } from "@inlet/protocol/event-id";
import type { FailureGroup, FailureListParams } from "../../contract/index.ts";
import { FAILURE_SLICE_ROWS, type FailedRunRow, groupFailures } from "../rows/failure-groups.ts";
import { IS_RERUN } from "../rows/reruns.ts";

export function listFailures(db: DatabaseSync, params: FailureListParams): Promise<FailureGroup[]> {
  const { environmentId, from, to, functionNos } = params;
  return groupFailures(async (before) => {
    const where = ["environment_id = ?", "status = 'failed'", "status <> 'completed'"];
    const values: SQLInputValue[] = [environmentId];
    const require = (condition: string, ...bound: SQLInputValue[]) => {
      where.push(condition);
      values.push(...bound);
    };
    if (before !== null) require("run_id < ?", before);
    require("run_id >= ?", firstIdAt(from));
    if (to !== undefined) require("run_id < ?", firstIdAt(to));
    if (functionNos) require(`function_no IN (${functionNos.map(() => "?").join(",")})`, ...functionNos);
    await nextTick();
    return db
      .prepare(`
        SELECT run_id, function_no, ended_at, error, ${IS_RERUN} AS is_rerun FROM runs INDEXED BY runs_by_status
        WHERE ${where.join(" AND ")} ORDER BY run_id DESC LIMIT ${FAILURE_SLICE_ROWS}`)
      .all(...values) as unknown as FailedRunRow[];
  }, params);
}
