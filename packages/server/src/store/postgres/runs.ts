/** Runs in PostgreSQL: changed by units, read in batches, listed by id. */

import { type EnvironmentId, firstIdAt, type RunId } from "@inlet/protocol";
import {
  fromStoreText,
  type RunDetails,
  type RunError,
  type RunListParams,
  type RunRecord,
  type RunStore,
  type RunSummary,
} from "../contract/index.ts";
import { Handing } from "../rows/entry-writes.ts";
import {
  type AttemptRow,
  RUN_COLUMNS,
  type RunRow,
  type RunSummaryRow,
  type StepRow,
  toFailedAttempt,
  toRunRecord,
  toRunSummary,
  toStepRecord,
} from "../rows/run-rows.ts";
import type { AdvanceRun } from "./advance-run.ts";
import { handedEntries } from "./append-events.ts";
import { Conditions } from "./conditions.ts";
import type { Database } from "./database.ts";
import type { GroupWriter } from "./group-writer.ts";
import { plain, plainStep, type RunReads } from "./run-reads.ts";
import { startRun } from "./start-runs.ts";

const SELECT = (extra = "") => `
  SELECT ${RUN_COLUMNS}${extra}, events.event_id, event_names.name AS event_name
  FROM runs JOIN lanes USING (lane_no) LEFT JOIN events ON events.sequence = runs.event_no LEFT JOIN event_names USING (name_id)`;

export interface RunStoreParts {
  database: Database;
  writer: GroupWriter;
  reads: RunReads;
  runs: AdvanceRun;
}

export function runStore({ database, writer, reads, runs }: RunStoreParts): RunStore {
  return {
    runStart: ({ environmentId, eventSequence, run, now, lease }) =>
      writer.submit((draft) => {
        const handing = new Handing(now, lease);
        startRun(draft, handing, environmentId, { sequence: eventSequence }, run);
        return () => ({ handed: handing.handed });
      }),
    runAdvance: ({ runNo, entryNo, now, lease, decide }) =>
      writer.submit(
        (draft) => {
          const handing = new Handing(now, lease);
          const held = entryNo === null ? null : { entryNo, node: lease.node };
          const applied = runs.advance(draft, handing, runNo, held, decide);
          return (written) => ({ applied, handed: handedEntries(draft, handing, written) });
        },
        { rows: 4, runNo },
      ),
    runContext: ({ runNo }) => reads.context(runNo),
    runFind: ({ id }) => findRun(database, id),
    runGet: (params) => getRun(database, params),
    runList: (params) => listRuns(database, params),
  };
}

/** The environment leads the key, so that each one is looked into. */
async function findRun(database: Database, id: RunId): Promise<RunRecord | null> {
  const [row] = await database.query<RunRow>(
    `SELECT ${RUN_COLUMNS} FROM runs JOIN lanes USING (lane_no)
     WHERE (runs.environment_id, run_id) IN (SELECT environment_id, $1::text FROM environments)`,
    [id],
  );
  return row ? toRunRecord(plain(row)) : null;
}

async function listRuns(database: Database, params: RunListParams): Promise<{ runs: RunSummary[]; next: RunId | null }> {
  const where = new Conditions();
  where.add("runs.environment_id = ?", params.environmentId);
  if (params.after !== undefined) where.add("run_id < ?", params.after);
  if (params.from !== undefined) where.add("run_id >= ?", firstIdAt(params.from));
  if (params.to !== undefined) where.add("run_id < ?", firstIdAt(params.to));
  if (params.status !== undefined) where.add("status = ?", params.status);
  // PostgreSQL takes the partial index only when the statement itself says that it holds what is asked for.
  if (params.status !== undefined && params.status !== "completed") where.add("status <> 'completed'");
  if (params.functionNos !== undefined) where.add("function_no = ANY (?)", params.functionNos);
  if (params.eventId !== undefined) {
    where.add("event_no = (SELECT sequence FROM events WHERE environment_id = ? AND event_id = ?)", params.environmentId, params.eventId);
  }
  const rows = await database.query<RunSummaryRow>(
    `${SELECT()} WHERE ${where.text} ORDER BY run_id DESC LIMIT ${params.limit + 1}`,
    where.values,
  );
  const runs = rows.slice(0, params.limit).map((row) => toRunSummary(plain(row)));
  return { runs, next: rows.length > params.limit ? (runs.at(-1)?.id ?? null) : null };
}

async function getRun(database: Database, { environmentId, id }: { environmentId: EnvironmentId; id: RunId }): Promise<RunDetails | null> {
  const [row] = await database.query<RunSummaryRow & { output: string | null; error: string | null }>(
    `${SELECT(", output, error")} WHERE runs.environment_id = $1 AND run_id = $2`,
    [environmentId, id],
  );
  if (!row) return null;
  const [steps, attempts] = await Promise.all([
    database.query<StepRow & { value: string | null }>("SELECT * FROM steps WHERE run_no = $1 ORDER BY position", [row.run_no]),
    database.query<AttemptRow>("SELECT * FROM failed_attempts WHERE run_no = $1 ORDER BY ended_at, attempt_no", [row.run_no]),
  ]);
  return {
    ...toRunSummary(plain(row)),
    output: row.output,
    error: row.error === null ? null : (JSON.parse(row.error) as RunError),
    steps: steps.map((step) => ({ ...toStepRecord(plainStep(step)), value: step.value })),
    attempts: attempts.map((attempt) => toFailedAttempt({ ...attempt, step_id: attempt.step_id && fromStoreText(attempt.step_id) })),
  };
}
