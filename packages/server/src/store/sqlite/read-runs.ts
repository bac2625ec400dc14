/** Lists and shows runs, on the read thread. Run ids are ULIDs: their order is the order of creation, and a time is a prefix. */

import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import { type EnvironmentId, firstIdAt, type RunId } from "@inlet/protocol";
import type { RunDetails, RunError, RunListParams, RunSummary } from "../contract/index.ts";
import {
  type AttemptRow,
  RUN_COLUMNS,
  type RunSummaryRow,
  type StepRow,
  toFailedAttempt,
  toRunSummary,
  toStepRecord,
} from "../rows/run-rows.ts";

const SELECT = (extra = "") => `
  SELECT ${RUN_COLUMNS}${extra}, events.event_id, event_names.name AS event_name
  FROM runs CROSS JOIN lanes USING (lane_no) LEFT JOIN events ON events.sequence = runs.event_no LEFT JOIN event_names USING (name_id)`;

export function listRuns(db: DatabaseSync, params: RunListParams): { runs: RunSummary[]; next: RunId | null } {
  const where = ["runs.environment_id = ?"];
  const values: SQLInputValue[] = [params.environmentId];
  const require = (condition: string, ...bound: SQLInputValue[]) => {
    where.push(condition);
    values.push(...bound);
  };
  if (params.after !== undefined) require("run_id < ?", params.after);
  if (params.from !== undefined) require("run_id >= ?", firstIdAt(params.from));
  if (params.to !== undefined) require("run_id < ?", firstIdAt(params.to));
  if (params.status !== undefined) require("status = ?", params.status);
  if (params.status !== undefined && params.status !== "completed") require("status <> 'completed'");
  if (params.functionNos !== undefined) require(`function_no IN (${params.functionNos.map(() => "?").join(",")})`, ...params.functionNos);
  if (params.eventId !== undefined) {
    require("event_no = (SELECT sequence FROM events WHERE environment_id = ? AND event_id = ?)", params.environmentId, params.eventId);
  }
  const rows = db
    .prepare(`${SELECT()} WHERE ${where.join(" AND ")} ORDER BY run_id DESC LIMIT ?`)
    .all(...values, params.limit + 1) as unknown as RunSummaryRow[];
  const runs = rows.slice(0, params.limit).map(toRunSummary);
  return { runs, next: rows.length > params.limit ? (runs.at(-1)?.id ?? null) : null };
}

export function getRun(db: DatabaseSync, { environmentId, id }: { environmentId: EnvironmentId; id: RunId }): RunDetails | null {
  const row = db.prepare(`${SELECT(", output, error")} WHERE runs.environment_id = ? AND run_id = ?`).get(environmentId, id) as
    | (RunSummaryRow & { output: string | null; error: string | null })
    | undefined;
  if (!row) return null;
  const steps = db.prepare("SELECT * FROM steps WHERE run_no = ? ORDER BY position").all(row.run_no);
  const attempts = db.prepare("SELECT * FROM failed_attempts WHERE run_no = ? ORDER BY ended_at, rowid").all(row.run_no);
  return {
    ...toRunSummary(row),
    output: row.output,
    error: row.error === null ? null : (JSON.parse(row.error) as RunError),
    steps: (steps as unknown as (StepRow & { value: string | null })[]).map((step) => ({ ...toStepRecord(step), value: step.value })),
    attempts: (attempts as unknown as AttemptRow[]).map(toFailedAttempt),
  };
}
