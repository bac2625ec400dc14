/** Failed runs grouped by function and error. */

import { firstIdAt } from "@inlet/protocol";
import type { FailureGroup, FailureListParams } from "../../contract/index.ts";
import { Conditions } from "../../postgres/conditions.ts";
import type { Database } from "../../postgres/database.ts";
import { FAILURE_SLICE_ROWS, type FailedRunRow, groupFailures } from "../rows/failure-groups.ts";
import { IS_RERUN } from "../rows/reruns.ts";

export function listFailures(database: Database, params: FailureListParams): Promise<FailureGroup[]> {
  const { environmentId, from, to, functionNos } = params;
  return groupFailures((before) => {
    const where = new Conditions();
    where.add("environment_id = ?", environmentId);
    where.add("status = 'failed'");
    where.add("status <> 'completed'");
    if (before !== null) where.add("run_id < ?", before);
    where.add("run_id >= ?", firstIdAt(from));
    if (to !== undefined) where.add("run_id < ?", firstIdAt(to));
    if (functionNos) where.add("function_no = ANY (?::integer[])", functionNos);
    return database.read<FailedRunRow>(
      `SELECT run_id, function_no, ended_at, error, ${IS_RERUN} AS is_rerun FROM runs WHERE ${where.text} ORDER BY run_id DESC LIMIT ${FAILURE_SLICE_ROWS}`,
      where.values,
    );
  }, params);
}
