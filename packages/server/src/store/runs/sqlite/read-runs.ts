/**
 * Lists and shows runs, on the read thread. Run ids are ULIDs: they sort by creation time, and a time is a prefix.
 * A list merges index ranges, one for each requested function and status, so its cost does not depend on other runs.
 */

import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import { setImmediate as nextTick } from "node:timers/promises";
import type { EnvironmentId, EventId, FunctionNo, JobId, RunId, RunNo } from "@inlet/protocol";
import { firstIdAt } from "@inlet/protocol/event-id";
import type {
  CompileWhere,
  EventRelation,
  EventRunCounts,
  RunCounts,
  RunDetails,
  RunListParams,
  RunStatus,
  RunSummary,
} from "../../contract/index.ts";
import { noWhere } from "../../events/rows/event-pages.ts";
import { type EventRow, toStoredEvent } from "../../events/rows/event-rows.ts";
import { selectEvents } from "../../events/sqlite/select-events.ts";
import { RUN_STATUSES } from "../contract/runs.ts";
import { IS_RERUN, originalOf } from "../rows/reruns.ts";
import { filterRuns, hasRunFilters, type RunPage } from "../rows/run-pages.ts";
import {
  type AttemptRow,
  type CallRow,
  PREVIEW_UNITS,
  RUN_COLUMNS,
  type RunSummaryRow,
  toRunDetails,
  toRunSummary,
} from "../rows/run-rows.ts";
import type { StepRowWithValue } from "../rows/step-rows.ts";

const SELECT = (extra = "") => `
  SELECT ${RUN_COLUMNS}${extra}, error, (SELECT coalesce(max(attempt) + 1, 0) FROM failed_attempts WHERE failed_attempts.run_no = runs.run_no) AS failed_attempts,
    events.event_id, event_names.name AS event_name, substr(events.data, 1, ${PREVIEW_UNITS}) AS event_preview,
    events.trace AS event_trace
  FROM runs LEFT JOIN events ON events.sequence = runs.event_no LEFT JOIN event_names USING (name_id)`;

/** A range of an index, newest first. */
interface Stream {
  index: string;
  where: string;
  values: SQLInputValue[];
}

/** The second conditions are those of the partial indexes. */
const OF_FUNCTION = "function_no = ? AND status = ? AND status <> 'completed'";
const OF_FUNCTION_COMPLETED = "function_no = ? AND status = 'completed'";
const OF_STATUS = "status = ? AND status <> 'completed'";

const RERUN_OF = `SELECT run_no FROM runs WHERE run_no IN (SELECT value FROM json_each(?)) AND ${IS_RERUN}`;

export async function listRuns(db: DatabaseSync, params: RunListParams, compileWhere: CompileWhere = noWhere): Promise<RunPage> {
  if (!hasRunFilters(params)) return pageOf(db, params);
  const event = db.prepare(`${selectEvents()} WHERE sequence = ?`);
  const events = (sequences: readonly number[]) =>
    [...new Set(sequences)].flatMap((sequence) => {
      const row = event.get(sequence) as EventRow | undefined;
      return row ? [toStoredEvent(row)] : [];
    });
  const rerunOf = db.prepare(RERUN_OF);
  const rerun = (runNos: readonly RunNo[]) => rerunOf.all(JSON.stringify(runNos)).map(({ run_no }) => run_no as RunNo);
  return filterRuns({ page: (page) => pageOf(db, page), events, rerun, pause: nextTick }, params, compileWhere);
}

function pageOf(db: DatabaseSync, params: RunListParams): RunPage {
  const found = streamsOf(db, params).flatMap((stream) => idsIn(db, params, stream));
  const ids = [...new Set(found)].sort().reverse();
  const shown = ids.slice(0, params.limit);
  return { runs: summaries(db, params.environmentId, shown), next: ids.length > params.limit ? (shown.at(-1) ?? null) : null };
}

function streamsOf(db: DatabaseSync, params: RunListParams): Stream[] {
  const { environmentId, status, functionNos, eventId, jobId, ids } = params;
  if (eventId !== undefined || jobId !== undefined || ids) return [ofFew(params)];
  if (functionNos) return ofFunctions(functionNos, status);
  if (status === undefined) return [{ index: "runs_by_id", where: "true", values: [] }];
  if (status !== "completed") return [{ index: "runs_by_status", where: OF_STATUS, values: [status] }];
  const rows = db.prepare("SELECT function_no FROM functions WHERE environment_id = ?").all(environmentId);
  return ofFunctions(
    rows.map(({ function_no }) => function_no as FunctionNo),
    status,
  );
}

function ofFunctions(functionNos: readonly FunctionNo[], status: RunStatus | undefined): Stream[] {
  return functionNos.flatMap((no) => (status === undefined ? RUN_STATUSES : [status]).map((one) => ofFunction(no, one)));
}

function ofFunction(no: FunctionNo, status: RunStatus): Stream {
  if (status === "completed") return { index: "runs_completed_by_function", where: OF_FUNCTION_COMPLETED, values: [no] };
  return { index: "runs_by_function_and_status", where: OF_FUNCTION, values: [no, status] };
}

/** One event, one job or a list of ids selects few runs: further filters need no index. */
function ofFew({ environmentId, status, functionNos, eventId, eventRelation = "started", jobId, ids }: RunListParams): Stream {
  const where: string[] = [];
  const values: SQLInputValue[] = [];
  const require = (condition: string, ...bound: SQLInputValue[]) => {
    where.push(condition);
    values.push(...bound);
  };
  if (eventId !== undefined) {
    const { select, times } = OF_EVENT[eventRelation];
    require(`run_no IN (${select})`, ...Array.from({ length: times }, () => [environmentId, eventId]).flat());
  }
  if (jobId !== undefined) require("job_id = ?", jobId);
  if (ids) require(`run_id IN (${ids.map(() => "?").join(",")})`, ...ids);
  if (status !== undefined) require("status = ?", status);
  if (functionNos) require(`function_no IN (${functionNos.map(() => "?").join(",")})`, ...functionNos);
  const index = jobId === undefined ? "runs_by_id" : "runs_by_job";
  return { index: eventId === undefined ? index : "", where: where.join(" AND "), values };
}

const SEQUENCE = "SELECT sequence FROM events WHERE environment_id = ? AND event_id = ?";
/** `times`: how often the environment and the event are bound. */
const OF_EVENT: Readonly<Record<EventRelation, { select: string; times: number }>> = {
  started: {
    select: `SELECT run_no FROM runs WHERE event_no = (${SEQUENCE}) UNION ALL SELECT run_no FROM batched_events WHERE event_no = (${SEQUENCE})`,
    times: 2,
  },
  resumed: {
    select:
      "SELECT s.run_no FROM steps AS s JOIN runs AS r USING (run_no) WHERE r.environment_id = ? AND s.event_id = ? AND s.kind = 'wait'",
    times: 1,
  },
  cancelled: { select: "SELECT run_no FROM runs WHERE environment_id = ? AND cancel_event_id = ?", times: 1 },
};

/** Reads only ids, from the index: an environment may have many functions, and most rows of their streams are not shown. */
function idsIn(db: DatabaseSync, params: RunListParams, { index, where, values }: Stream): RunId[] {
  const conditions = ["environment_id = ?", where];
  const bound: SQLInputValue[] = [params.environmentId, ...values];
  const require = (condition: string, value: SQLInputValue) => {
    conditions.push(condition);
    bound.push(value);
  };
  if (params.after !== undefined) require("run_id < ?", params.after);
  if (params.from !== undefined) require("run_id >= ?", firstIdAt(params.from));
  if (params.to !== undefined) require("run_id < ?", firstIdAt(params.to));
  const indexed = index && ` INDEXED BY ${index}`;
  return db
    .prepare(`SELECT run_id FROM runs${indexed} WHERE ${conditions.join(" AND ")} ORDER BY run_id DESC LIMIT ?`)
    .all(...bound, params.limit + 1)
    .map(({ run_id }) => run_id as RunId);
}

function summaries(db: DatabaseSync, environmentId: EnvironmentId, ids: readonly RunId[]): RunSummary[] {
  const select = db.prepare(`${SELECT()} WHERE runs.environment_id = ? AND run_id = ?`);
  return ids.flatMap((id) => {
    const row = select.get(environmentId, id) as RunSummaryRow | undefined;
    return row ? [toRunSummary(row)] : [];
  });
}

export function summariseRuns(db: DatabaseSync, params: { environmentId: EnvironmentId; runNos: readonly RunNo[] }): RunSummary[] {
  const select = db.prepare(`${SELECT()} WHERE run_no = ? AND runs.environment_id = ?`);
  return params.runNos.flatMap((runNo) => {
    const row = select.get(runNo, params.environmentId) as RunSummaryRow | undefined;
    return row ? [toRunSummary(row)] : [];
  });
}

const COUNT_BY_STATUS = `
  SELECT status, count(*) AS runs FROM runs WHERE run_no IN (
    SELECT run_no FROM runs WHERE event_no = ?1 UNION ALL SELECT run_no FROM batched_events WHERE event_no = ?1)
  GROUP BY status`;

export function countByJob(db: DatabaseSync, { environmentId, jobId }: { environmentId: EnvironmentId; jobId: JobId }): RunCounts {
  const rows = db
    .prepare("SELECT status, count(*) AS runs FROM runs INDEXED BY runs_by_job WHERE environment_id = ? AND job_id = ? GROUP BY status")
    .all(environmentId, jobId) as { status: RunStatus; runs: number }[];
  return Object.fromEntries(rows.map(({ status, runs }) => [status, runs]));
}

export function countByEvent(
  db: DatabaseSync,
  { environmentId, eventIds }: { environmentId: EnvironmentId; eventIds: readonly EventId[] },
): EventRunCounts[] {
  const find = db.prepare("SELECT sequence FROM events WHERE environment_id = ? AND event_id = ?");
  const count = db.prepare(COUNT_BY_STATUS);
  return eventIds.flatMap((eventId) => {
    const event = find.get(environmentId, eventId) as { sequence: number } | undefined;
    const rows = event ? (count.all(event.sequence) as { status: RunStatus; runs: number }[]) : [];
    return rows.length === 0 ? [] : [{ eventId, counts: Object.fromEntries(rows.map(({ status, runs }) => [status, runs])) }];
  });
}

const RERUN = `
  SELECT run_id AS id, status FROM runs INDEXED BY runs_by_original WHERE environment_id = ? AND original_run_id = ? AND run_id > ?
  ORDER BY run_id DESC LIMIT 1`;

const INVOKER = "SELECT run_id AS id FROM runs WHERE environment_id = ? AND run_no = ?";

/** In one snapshot: a run that is removed meanwhile is there with all that belongs to it, or not at all. */
export function getRun(db: DatabaseSync, { environmentId, id }: { environmentId: EnvironmentId; id: RunId }): RunDetails | null {
  db.exec("BEGIN");
  try {
    return readRun(db, environmentId, id);
  } finally {
    db.exec("COMMIT");
  }
}

function readRun(db: DatabaseSync, environmentId: EnvironmentId, id: RunId): RunDetails | null {
  const row = db.prepare(`${SELECT(", output, cancel_event_id")} WHERE runs.environment_id = ? AND run_id = ?`).get(environmentId, id) as
    | (RunSummaryRow & { output: string | null; cancel_event_id: EventId | null })
    | undefined;
  if (!row) return null;
  const all = <Row>(sql: string) => db.prepare(sql).all(row.run_no) as Row[];
  const steps = all<StepRowWithValue>("SELECT * FROM steps WHERE run_no = ? ORDER BY position");
  const attempts = all<AttemptRow>("SELECT * FROM failed_attempts WHERE run_no = ? ORDER BY ended_at, rowid");
  const calls = all<CallRow>("SELECT * FROM calls WHERE run_no = ? ORDER BY call_no");
  const rerun = db.prepare(RERUN).get(environmentId, originalOf(row), id) as RunDetails["rerun"] | undefined;
  const invoker = db.prepare(INVOKER).get(environmentId, row.invoker_run_no) as { id: RunId } | undefined;
  return toRunDetails({ row, rerun, invoker, steps, attempts, calls });
}
