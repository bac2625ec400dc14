/** Reads single runs, and several by their numbers. */

import type { EnvironmentId, EventId, JobId, RunId, RunNo } from "@inlet/protocol";
import type { EventRunCounts, RunCounts, RunDetails, RunRecord, RunStatus, RunSummary } from "../../contract/index.ts";
import type { Database, Read } from "../../postgres/database.ts";
import { originalOf } from "../rows/reruns.ts";
import {
  type AttemptRow,
  type CallRow,
  PREVIEW_UNITS,
  RUN_COLUMNS,
  type RunRow,
  type RunSummaryRow,
  toRunDetails,
  toRunRecord,
  toRunSummary,
} from "../rows/run-rows.ts";
import type { StepRowWithValue } from "../rows/step-rows.ts";

const SELECT_RUNS = (extra = "") => `SELECT ${RUN_COLUMNS}${extra} FROM runs`;
const SUMMARY = ", error";

/** By number first, then by environment: PostgreSQL might otherwise read the whole environment. */
const EVENT_NAMES = `
  SELECT sequence, event_id AS id, name, left(data, ${PREVIEW_UNITS}) AS preview, trace FROM (SELECT * FROM events WHERE sequence = ANY ($2::bigint[]) OFFSET 0) AS events
  JOIN event_names USING (name_id) WHERE environment_id = $1`;

/** One run after the other, each in its own partition. */
const FAILED_ATTEMPTS = `
  SELECT wanted.run_no, (SELECT coalesce(max(f.attempt) + 1, 0) FROM failed_attempts AS f WHERE f.environment_id = $1 AND f.run_no = wanted.run_no) AS attempts
  FROM unnest($2::bigint[]) AS wanted(run_no)`;

/** The environment leads the key, so each environment is queried. */
export async function findRun(
  database: Database,
  { id, environmentId }: { id: RunId; environmentId?: EnvironmentId },
): Promise<RunRecord | null> {
  const one = "runs.environment_id = $2 AND run_id = $1";
  const any = "(runs.environment_id, run_id) IN (SELECT environment_id, $1::text FROM environments)";
  const isOne = environmentId !== undefined;
  const [row] = await database.query<RunRow>(`${SELECT_RUNS()} WHERE ${isOne ? one : any}`, isOne ? [id, environmentId] : [id]);
  return row ? toRunRecord(row) : null;
}

export async function summariseRuns(
  database: Database,
  { environmentId, runNos }: { environmentId: EnvironmentId; runNos: readonly RunNo[] },
): Promise<RunSummary[]> {
  const rows = await database.read<RowOfRun>(`${SELECT_RUNS(SUMMARY)} WHERE runs.environment_id = $1 AND run_no = ANY ($2::bigint[])`, [
    environmentId,
    runNos,
  ]);
  const read: Read = (text, values) => database.read(text, values);
  return (await asSummaries(read, environmentId, rows)).map(toRunSummary);
}

type RowOfRun = RunRow & Pick<RunSummaryRow, "error">;

interface NameOfEvent {
  sequence: number;
  id: string;
  name: string;
  preview: string;
  trace: string | null;
}

/** Looked up separately: with a join, PostgreSQL tends to read every partition. An event may be removed before its run. */
async function asSummaries<Row extends RowOfRun>(
  read: Read,
  environmentId: EnvironmentId,
  rows: readonly Row[],
): Promise<(Row & RunSummaryRow)[]> {
  const sequences = [...new Set(rows.map(({ event_no }) => event_no))];
  const runNos = rows.map(({ run_no }) => run_no);
  const [found, failed] = await Promise.all([
    read<NameOfEvent>(EVENT_NAMES, [environmentId, sequences]),
    read<{ run_no: number; attempts: number }>(FAILED_ATTEMPTS, [environmentId, runNos]),
  ]);
  const events = new Map(found.map((event) => [event.sequence, event]));
  const attempts = new Map(failed.map((row) => [row.run_no, row.attempts]));
  return rows.map((row) => {
    const { id = null, name = null, preview = null, trace = null } = events.get(row.event_no) ?? {};
    const shown = { event_id: id, event_name: name, event_preview: preview, event_trace: trace };
    return { ...row, ...shown, failed_attempts: attempts.get(row.run_no) ?? 0 };
  });
}

const RERUN = `
  SELECT run_id AS id, status FROM runs WHERE environment_id = $1 AND original_run_id = $2 AND run_id > $3 ORDER BY run_id DESC LIMIT 1`;

const INVOKER = "SELECT run_id AS id FROM runs WHERE environment_id = $1 AND run_no = $2";

/** In one snapshot: a run that is removed meanwhile is there with all that belongs to it, or not at all. */
export function getRun(database: Database, { environmentId, id }: { environmentId: EnvironmentId; id: RunId }): Promise<RunDetails | null> {
  return database.readTogether((read) => readRun(read, environmentId, id));
}

async function readRun(read: Read, environmentId: EnvironmentId, id: RunId): Promise<RunDetails | null> {
  const found = await read<RowOfRun & { output: string | null; cancel_event_id: EventId | null }>(
    `${SELECT_RUNS(", output, error, cancel_event_id")} WHERE runs.environment_id = $1 AND run_id = $2`,
    [environmentId, id],
  );
  const [row] = await asSummaries(read, environmentId, found);
  if (!row) return null;
  const all = <Found extends object>(sql: string) => read<Found>(sql, [environmentId, row.run_no]);
  const [[rerun], [invoker], steps, attempts, calls] = await Promise.all([
    read<{ id: RunId; status: RunStatus }>(RERUN, [environmentId, originalOf(row), id]),
    row.invoker_run_no === null ? [] : read<{ id: RunId }>(INVOKER, [environmentId, row.invoker_run_no]),
    all<StepRowWithValue>("SELECT * FROM steps WHERE environment_id = $1 AND run_no = $2 ORDER BY position"),
    all<AttemptRow>("SELECT * FROM failed_attempts WHERE environment_id = $1 AND run_no = $2 ORDER BY ended_at, attempt_no"),
    all<CallRow>("SELECT * FROM calls WHERE environment_id = $1 AND run_no = $2 ORDER BY call_no"),
  ]);
  return toRunDetails({ row, rerun, invoker, steps, attempts, calls });
}

export async function countByJob(
  database: Database,
  { environmentId, jobId }: { environmentId: EnvironmentId; jobId: JobId },
): Promise<RunCounts> {
  const rows = await database.read<{ status: RunStatus; runs: number }>(
    "SELECT status, count(*)::integer AS runs FROM runs WHERE environment_id = $1 AND job_id = $2 GROUP BY status",
    [environmentId, jobId],
  );
  return Object.fromEntries(rows.map(({ status, runs }) => [status, runs]));
}

/** In steps with only one possible plan each, whatever the statistics. */
export async function countByEvent(
  database: Database,
  { environmentId, eventIds }: { environmentId: EnvironmentId; eventIds: readonly EventId[] },
): Promise<EventRunCounts[]> {
  const events = await database.read<{ event_id: EventId; sequence: number }>(
    "SELECT event_id, sequence FROM events WHERE environment_id = $1 AND event_id = ANY ($2::text[])",
    [environmentId, eventIds],
  );
  const sequences = events.map(({ sequence }) => sequence);
  const [alone, batched] = await Promise.all([
    database.read<{ event_no: number; status: RunStatus }>(
      "SELECT event_no, status FROM runs WHERE environment_id = $1 AND event_no = ANY ($2::bigint[])",
      [environmentId, sequences],
    ),
    database.read<{ event_no: number; run_no: number }>(
      "SELECT event_no, run_no FROM batched_events WHERE environment_id = $1 AND event_no = ANY ($2::bigint[])",
      [environmentId, sequences],
    ),
  ]);
  const statuses = await database.read<{ run_no: number; status: RunStatus }>(
    "SELECT run_no, status FROM runs WHERE environment_id = $1 AND run_no = ANY ($2::bigint[])",
    [environmentId, batched.map(({ run_no }) => run_no)],
  );
  const statusOf = new Map(statuses.map(({ run_no, status }) => [run_no, status]));
  const all = [...alone, ...batched.map(({ event_no, run_no }) => ({ event_no, status: statusOf.get(run_no) }))];
  return events.flatMap(({ event_id: eventId, sequence }) => {
    const counts: EventRunCounts["counts"] = {};
    for (const { event_no, status } of all) if (event_no === sequence && status) counts[status] = (counts[status] ?? 0) + 1;
    return Object.keys(counts).length === 0 ? [] : [{ eventId, counts }];
  });
}
