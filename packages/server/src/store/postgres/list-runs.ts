/**
 * Lists runs newest first. Run ids are ULIDs: their order is the order of creation, and a time is a prefix. As lists of events
 * do, these walk ranges of indexes, within a time budget.
 */

import { firstIdAt, type RunId } from "@inlet/protocol";
import type { RunListParams, RunStatus, RunSummary } from "../contract/index.ts";
import { type CollectedRuns, mergeRuns } from "../rows/run-pages.ts";
import { type RunSummaryRow, toRunSummary } from "../rows/run-rows.ts";
import { Conditions } from "./conditions.ts";
import type { Database } from "./database.ts";
import { SELECT_RUNS } from "./read-runs.ts";
import { plain } from "./run-reads.ts";

const SLICE_ROWS = 500;
const BUDGET_MS = 1_000;

/** A range of an index, newest first. What the index does not settle is a filter on slices of it. */
interface Stream {
  where: string;
  values: readonly unknown[];
  onlyStatus?: RunStatus;
}

/** The second condition is the one the partial indexes were made with. */
const NOT_COMPLETED = "status = ? AND status <> 'completed'";
const OF_EVENT = `
  run_no IN (
    WITH asked AS (SELECT sequence FROM events WHERE environment_id = ? AND event_id = ?)
    SELECT run_no FROM runs JOIN asked ON event_no = sequence WHERE environment_id = ?
    UNION ALL SELECT run_no FROM batched_events JOIN asked ON event_no = sequence)`;

export async function listRuns(database: Database, params: RunListParams): Promise<{ runs: RunSummary[]; next: RunId | null }> {
  const deadline = Date.now() + BUDGET_MS;
  const collected = await Promise.all(streamsOf(params).map((stream) => collect(database, params, stream, deadline)));
  return mergeRuns(collected, params.limit);
}

function streamsOf({ environmentId, status, functionNos, eventId }: RunListParams): Stream[] {
  // No index holds completed runs by status: nearly all are, so they are found among all.
  const indexed = status !== undefined && status !== "completed" ? status : null;
  const filter = status !== undefined && indexed === null ? { onlyStatus: status } : {};
  if (eventId !== undefined) {
    const own = functionNos ? { where: `${OF_EVENT} AND function_no = ANY (?)`, more: [functionNos] } : { where: OF_EVENT, more: [] };
    const values = [environmentId, eventId, environmentId, ...own.more];
    return [{ where: own.where, values, ...(status !== undefined && { onlyStatus: status }) }];
  }
  if (functionNos) {
    return functionNos.map((no) =>
      indexed === null
        ? { where: "function_no = ?", values: [no], ...filter }
        : { where: `function_no = ? AND ${NOT_COMPLETED}`, values: [no, indexed] },
    );
  }
  return [indexed === null ? { where: "true", values: [], ...filter } : { where: NOT_COMPLETED, values: [indexed] }];
}

async function collect(database: Database, params: RunListParams, stream: Stream, deadline: number): Promise<CollectedRuns> {
  const { onlyStatus } = stream;
  const sliceRows = onlyStatus === undefined ? params.limit + 1 : Math.max(SLICE_ROWS, params.limit + 1);
  const found: RunSummary[] = [];
  let { after } = params;
  for (;;) {
    const rows = await readSlice(database, params, stream, after, sliceRows);
    for (const row of rows) {
      after = row.run_id as RunId;
      if (onlyStatus === undefined || row.status === onlyStatus) found.push(toRunSummary(plain(row)));
      if (found.length > params.limit) return { found, leftAt: after };
    }
    if (rows.length < sliceRows) return { found, leftAt: null };
    if (Date.now() > deadline) return { found, leftAt: after ?? null };
  }
}

function readSlice(
  database: Database,
  params: RunListParams,
  stream: Stream,
  after: RunId | undefined,
  rows: number,
): Promise<RunSummaryRow[]> {
  const where = new Conditions();
  where.add("environment_id = ?", params.environmentId);
  where.add(stream.where, ...stream.values);
  if (after !== undefined) where.add("run_id < ?", after);
  if (params.from !== undefined) where.add("run_id >= ?", firstIdAt(params.from));
  if (params.to !== undefined) where.add("run_id < ?", firstIdAt(params.to));
  // The runs are chosen before anything is joined to them: the planner must not begin anywhere else.
  const chosen = `SELECT * FROM runs WHERE ${where.text} ORDER BY run_id DESC LIMIT ${rows}`;
  return database.query<RunSummaryRow>(
    `${SELECT_RUNS().replace("FROM runs", `FROM (${chosen}) AS runs`)} ORDER BY run_id DESC`,
    where.values,
  );
}
