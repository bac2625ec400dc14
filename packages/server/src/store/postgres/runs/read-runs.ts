/** Reads single runs, and some by their numbers. */

import type { EnvironmentId, RunId, RunNo } from "@inlet/protocol";
import { fromStoreText, type RunDetails, type RunError, type RunRecord, type RunSummary } from "../../contract/index.ts";
import {
  type AttemptRow,
  type CallRow,
  doneSteps,
  RUN_COLUMNS,
  type RunRow,
  type RunSummaryRow,
  type StepRow,
  toCallRecord,
  toFailedAttempt,
  toRunRecord,
  toRunSummary,
  toStepRecord,
} from "../../rows/run-rows.ts";
import type { Database } from "../database.ts";
import { readable, readableStep } from "./run-state.ts";

const SELECT_RUNS = (extra = "") => `SELECT ${RUN_COLUMNS}${extra} FROM runs LEFT JOIN lanes USING (lane_no)`;

/** By their numbers first, then by their environment: PostgreSQL might otherwise read all of the environment. */
const EVENT_NAMES = `
  SELECT sequence, event_id, name FROM (SELECT * FROM events WHERE sequence = ANY ($2::bigint[]) OFFSET 0) AS events
  JOIN event_names USING (name_id) WHERE environment_id = $1`;

/** The environment leads the key, so that each one is looked into. */
export async function findRun(database: Database, id: RunId): Promise<RunRecord | null> {
  const [row] = await database.query<RunRow>(
    `${SELECT_RUNS()} WHERE (runs.environment_id, run_id) IN (SELECT environment_id, $1::text FROM environments)`,
    [id],
  );
  return row ? toRunRecord(readable(row)) : null;
}

export async function summariseRuns(
  database: Database,
  { environmentId, runNos }: { environmentId: EnvironmentId; runNos: readonly RunNo[] },
): Promise<RunSummary[]> {
  const rows = await database.query<RunRow>(`${SELECT_RUNS()} WHERE runs.environment_id = $1 AND run_no = ANY ($2::bigint[])`, [
    environmentId,
    runNos,
  ]);
  return (await withEvents(database, environmentId, rows)).map((row) => toRunSummary(readable(row)));
}

/** Looked up apart: as a join, PostgreSQL would rather read every partition. An event may be gone before its run. */
async function withEvents<Row extends RunRow>(
  database: Database,
  environmentId: EnvironmentId,
  rows: readonly Row[],
): Promise<(Row & RunSummaryRow)[]> {
  const found = await database.query<{ sequence: number; event_id: string; name: string }>(EVENT_NAMES, [
    environmentId,
    [...new Set(rows.map(({ event_no }) => event_no))],
  ]);
  const events = new Map(found.map((event) => [event.sequence, event]));
  return rows.map((row) => {
    const event = events.get(row.event_no);
    return { ...row, event_id: event?.event_id ?? null, event_name: event?.name ?? null };
  });
}

export async function getRun(
  database: Database,
  { environmentId, id }: { environmentId: EnvironmentId; id: RunId },
): Promise<RunDetails | null> {
  const found = await database.query<RunRow & { output: string | null; error: string | null }>(
    `${SELECT_RUNS(", output, error")} WHERE runs.environment_id = $1 AND run_id = $2`,
    [environmentId, id],
  );
  const [row] = await withEvents(database, environmentId, found);
  if (!row) return null;
  const all = <Found extends object>(sql: string) => database.query<Found>(sql, [environmentId, row.run_no]);
  const [steps, attempts, calls] = await Promise.all([
    all<StepRow & { value: string | null; done_position: number | null }>(
      "SELECT * FROM steps WHERE environment_id = $1 AND run_no = $2 ORDER BY position",
    ),
    all<AttemptRow>("SELECT * FROM failed_attempts WHERE environment_id = $1 AND run_no = $2 ORDER BY ended_at, attempt_no"),
    all<CallRow>("SELECT * FROM calls WHERE environment_id = $1 AND run_no = $2 ORDER BY call_no"),
  ]);
  const done = doneSteps(steps.map(readableStep));
  return {
    ...toRunSummary(readable(row)),
    output: row.output,
    eventSequences: row.event_nos === null ? null : (JSON.parse(row.event_nos) as number[]),
    error: row.error === null ? null : (JSON.parse(row.error) as RunError),
    steps: steps.map((step) => ({ ...toStepRecord(readableStep(step)), value: step.value })),
    attempts: attempts.map((attempt) => toFailedAttempt({ ...attempt, step_id: attempt.step_id && fromStoreText(attempt.step_id) })),
    calls: calls.map((call) => toCallRecord(readableCall(call), done)),
  };
}

function readableCall(row: CallRow): CallRow {
  const { step_id, path, answer } = row;
  return { ...row, step_id: step_id && fromStoreText(step_id), path: fromStoreText(path), answer: answer && fromStoreText(answer) };
}
