/** Reads the data that calls need of their runs, for many calls at once: as many as hold a bounded size, at least one. */

import type { EnvironmentId, RunNo, StepId } from "@inlet/protocol";
import type { RunContext, RunEnd, RunError, RunKey, StepRequest, StoredEvent } from "../../contract/index.ts";
import { eventsOfSome } from "../../events/postgres/select-events.ts";
import { BatchedReads, type BatchRead } from "../../postgres/batched-reads.ts";
import type { Database } from "../../postgres/database.ts";
import { isWholeSlice, rowsWithin, type WithinRow } from "../../postgres/rows-within.ts";
import { type RequestRow, toStepRequest } from "../../secrets/rows/sealed-requests.ts";
import type { SecretBox } from "../../secrets/rows/secret-box.ts";
import { PAGE_BYTES_MAX } from "../../shared/byte-bounds.ts";
import { type RunRow, toRunRecord } from "../rows/run-rows.ts";
import { SELECT_RUNS, sequencesOf, unfinished } from "./run-state.ts";

const RUNS_WITHIN = rowsWithin(
  `(${SELECT_RUNS} WHERE runs.environment_id = $1 AND run_no = ANY ($2::bigint[]) OFFSET 0)`,
  "run_no",
  "state_bytes",
  PAGE_BYTES_MAX,
);
/** Run and steps in one statement: a call never includes fewer results than existed when its run was read. */
const CONTEXTS = `
  SELECT going.*, coalesce((
    SELECT json_agg(json_build_object('id', step_id, 'value', value) ORDER BY done_position) FROM steps
    WHERE steps.environment_id = $1 AND steps.run_no = going.run_no AND steps.run_no = ANY ($2::bigint[]) AND done_position IS NOT NULL), '[]') AS steps
  FROM (${RUNS_WITHIN} OFFSET 0) AS going`;
const END = `
  SELECT status, ended_at, output, error FROM runs WHERE environment_id = $1 AND run_no = $2`;

type ContextRow = WithinRow<RunRow & { steps: { id: string; value: string }[] }>;

export function createRunContexts(database: Database): BatchedReads<RunNo, RunContext> {
  return new BatchedReads((environmentId, runNos) => readContexts(database, environmentId, runNos));
}

async function readContexts(
  database: Database,
  environmentId: EnvironmentId,
  runNos: readonly RunNo[],
): Promise<BatchRead<RunNo, RunContext>> {
  const rows = await database.query<ContextRow>(CONTEXTS, [environmentId, runNos]);
  const reached = isWholeSlice(rows) ? Number.POSITIVE_INFINITY : Math.max(...rows.map(({ run_no }) => run_no));
  const active = unfinished(rows);
  const sequences = new Map(active.map((row) => [row.run_no as RunNo, sequencesOf(row)]));
  const events = await eventsOfSome((text, values) => database.query(text, values), environmentId, sequences);
  const found = active.flatMap((row) => {
    const own = events.get(row.run_no as RunNo);
    return own ? [toContext(row, own)] : [];
  });
  return {
    found: new Map(found.map((context) => [context.run.no, context])),
    left: runNos.filter((runNo) => runNo > reached || (sequences.has(runNo) && !events.has(runNo))),
  };
}

function toContext(row: ContextRow, events: readonly StoredEvent[]): RunContext {
  const steps = row.steps.map(({ id, value }) => ({ id: id as StepId, value }));
  return { run: toRunRecord(row), events, steps };
}

/** How a run ended; null if it has not, or no longer exists. */
export async function readRunEnd(database: Database, { environmentId, runNo }: RunKey): Promise<RunEnd | null> {
  const [row] = await database.query<{ status: RunEnd["status"]; ended_at: number | null; output: string | null; error: string | null }>(
    END,
    [environmentId, runNo],
  );
  if (!row || row.ended_at === null) return null;
  const error = row.error === null ? null : (JSON.parse(row.error) as RunError);
  return { status: row.status, endedAt: row.ended_at, output: row.output, error };
}

const REQUEST = `
  SELECT kind, detail FROM steps
  WHERE environment_id = $1 AND run_no = ANY ($2::bigint[]) AND step_id = $3 AND done_position IS NULL AND kind IN ('fetch', 'infer')`;

/** The request of an open step. */
export async function readStepRequest(
  database: Database,
  box: SecretBox,
  { environmentId, runNo, stepId }: RunKey & { stepId: StepId },
): Promise<StepRequest | null> {
  const [row] = await database.query<RequestRow>(REQUEST, [environmentId, [runNo], stepId]);
  return row ? toStepRequest(box, { runNo, stepId }, row) : null;
}
