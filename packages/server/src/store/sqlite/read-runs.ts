/**
 * Lists and shows runs, on the read thread. Run ids are ULIDs: their order is the order of creation, and a time is a prefix.
 * Lists walk ranges of indexes as those of events do (list-events.ts), within a time budget.
 */

import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import { setImmediate as nextTurn } from "node:timers/promises";
import { type EnvironmentId, type EventId, firstIdAt, type RunId, type RunNo } from "@inlet/protocol";
import type { RunDetails, RunError, RunListParams, RunStatus, RunSummary } from "../contract/index.ts";
import { type CollectedRuns, mergeRuns } from "../rows/run-pages.ts";
import {
  type AttemptRow,
  RUN_COLUMNS,
  type RunSummaryRow,
  type StepRow,
  toFailedAttempt,
  toRunSummary,
  toStepRecord,
} from "../rows/run-rows.ts";

const SELECT = (extra = "", index = "") => `
  SELECT ${RUN_COLUMNS}${extra}, events.event_id, event_names.name AS event_name
  FROM runs${index && ` INDEXED BY ${index}`} LEFT JOIN lanes USING (lane_no) LEFT JOIN events ON events.sequence = runs.event_no
    LEFT JOIN event_names USING (name_id)`;

const SLICE_ROWS = 500;
const BUDGET_MS = 1_000;

/** A range of an index, newest first. What the index does not settle is a filter on slices of it. */
interface Stream {
  index: string;
  where: string;
  values: SQLInputValue[];
  onlyStatus?: RunStatus;
}

export async function listRuns(db: DatabaseSync, params: RunListParams): Promise<{ runs: RunSummary[]; next: RunId | null }> {
  const deadline = Date.now() + BUDGET_MS;
  const collected: CollectedRuns[] = [];
  for (const stream of streamsOf(params)) collected.push(await collect(db, params, stream, deadline));
  return mergeRuns(collected, params.limit);
}

function streamsOf({ environmentId, status, functionNos, eventId }: RunListParams): Stream[] {
  // No index holds completed runs by status: nearly all are, so they are found among all.
  const indexed = status !== undefined && status !== "completed" ? status : null;
  const filter = status !== undefined && indexed === null ? { onlyStatus: status } : {};
  if (eventId !== undefined) return [ofEvent(environmentId, eventId, status, functionNos)];
  if (functionNos) {
    return functionNos.map((no) =>
      indexed === null
        ? { index: "runs_by_function", where: "function_no = ?", values: [no], ...filter }
        : { index: "runs_by_function_and_status", where: `function_no = ? AND ${NOT_COMPLETED}`, values: [no, indexed] },
    );
  }
  if (indexed !== null) return [{ index: "runs_by_status", where: NOT_COMPLETED, values: [indexed] }];
  return [{ index: "runs_by_id", where: "true", values: [], ...filter }];
}

/** The second condition is the one the partial indexes were made with. */
const NOT_COMPLETED = "status = ? AND status <> 'completed'";

/** What one event started is little. */
function ofEvent(
  environmentId: EnvironmentId,
  eventId: EventId,
  status: RunStatus | undefined,
  functionNos: RunListParams["functionNos"],
): Stream {
  const sequence = "SELECT sequence FROM events WHERE environment_id = ? AND event_id = ?";
  const where = [
    `run_no IN (
    SELECT run_no FROM runs WHERE event_no = (${sequence}) UNION ALL SELECT run_no FROM batched_events WHERE event_no = (${sequence}))`,
  ];
  const values: SQLInputValue[] = [environmentId, eventId, environmentId, eventId];
  if (functionNos) {
    where.push(`function_no IN (${functionNos.map(() => "?").join(",")})`);
    values.push(...functionNos);
  }
  return { index: "", where: where.join(" AND "), values, ...(status !== undefined && { onlyStatus: status }) };
}

async function collect(db: DatabaseSync, params: RunListParams, stream: Stream, deadline: number): Promise<CollectedRuns> {
  const { onlyStatus } = stream;
  const sliceRows = onlyStatus === undefined ? params.limit + 1 : Math.max(SLICE_ROWS, params.limit + 1);
  const found: RunSummary[] = [];
  let { after } = params;
  for (;;) {
    const rows = readSlice(db, params, stream, after, sliceRows);
    for (const row of rows) {
      after = row.run_id as RunId;
      if (onlyStatus === undefined || row.status === onlyStatus) found.push(toRunSummary(row));
      if (found.length > params.limit) return { found, leftAt: after };
    }
    if (rows.length < sliceRows) return { found, leftAt: null };
    if (Date.now() > deadline) return { found, leftAt: after ?? null };
    await nextTurn();
  }
}

function readSlice(db: DatabaseSync, params: RunListParams, stream: Stream, after: RunId | undefined, rows: number): RunSummaryRow[] {
  const where = ["runs.environment_id = ?", stream.where];
  const values: SQLInputValue[] = [params.environmentId, ...stream.values];
  const require = (condition: string, bound: SQLInputValue) => {
    where.push(condition);
    values.push(bound);
  };
  if (after !== undefined) require("run_id < ?", after);
  if (params.from !== undefined) require("run_id >= ?", firstIdAt(params.from));
  if (params.to !== undefined) require("run_id < ?", firstIdAt(params.to));
  return db
    .prepare(`${SELECT("", stream.index)} WHERE ${where.join(" AND ")} ORDER BY run_id DESC LIMIT ?`)
    .all(...values, rows) as unknown as RunSummaryRow[];
}

export function summariseRuns(db: DatabaseSync, params: { environmentId: EnvironmentId; runNos: readonly RunNo[] }): RunSummary[] {
  const select = db.prepare(`${SELECT()} WHERE run_no = ? AND runs.environment_id = ?`);
  return params.runNos.flatMap((runNo) => {
    const row = select.get(runNo, params.environmentId) as RunSummaryRow | undefined;
    return row ? [toRunSummary(row)] : [];
  });
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
    eventSequences: row.event_nos === null ? null : (JSON.parse(row.event_nos) as number[]),
    error: row.error === null ? null : (JSON.parse(row.error) as RunError),
    steps: (steps as unknown as (StepRow & { value: string | null })[]).map((step) => ({ ...toStepRecord(step), value: step.value })),
    attempts: (attempts as unknown as AttemptRow[]).map(toFailedAttempt),
  };
}

export function queueDepth(
  db: DatabaseSync,
  { environmentId }: { environmentId: EnvironmentId },
): { waiting: number; oldestDueAt: number | null } {
  const row = db
    .prepare(
      `SELECT count(*) AS waiting, min(iif(leased_by IS NULL, rank, NULL)) AS oldest
       FROM queue INDEXED BY queue_by_lane WHERE lane_no > 1 AND environment_id = ?`,
    )
    .get(environmentId) as { waiting: number; oldest: number | null };
  return { waiting: row.waiting, oldestDueAt: row.oldest };
}
