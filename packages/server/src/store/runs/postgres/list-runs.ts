/**
 * Lists runs newest first. Run ids are ULIDs: they sort by creation time, and a time is a prefix. A list merges index ranges,
 * one for each requested function and status, so its cost does not depend on other runs.
 */

import { firstIdAt, type RunId, type RunNo } from "@inlet/protocol";
import { type CompileWhere, type EventRelation, RUN_STATUSES, type RunListParams } from "../../contract/index.ts";
import { eventsAt } from "../../events/postgres/select-events.ts";
import { Conditions } from "../../postgres/conditions.ts";
import type { Database, Read } from "../../postgres/database.ts";
import { IS_RERUN } from "../rows/reruns.ts";
import { filterRuns, hasRunFilters, type RunPage } from "../rows/run-pages.ts";
import { summariseRuns } from "./read-runs.ts";

/** Each sequence number is looked up once: with a join and without statistics, PostgreSQL would look it up for every run. */
const RUNS_OF_EVENT: Readonly<Record<EventRelation, string>> = {
  started: `
    SELECT run_no FROM runs WHERE environment_id = $1 AND event_no = (SELECT sequence FROM events WHERE environment_id = $1 AND event_id = $2)
    UNION SELECT run_no FROM batched_events
    WHERE environment_id = $1 AND event_no = (SELECT sequence FROM events WHERE environment_id = $1 AND event_id = $2)`,
  resumed: "SELECT run_no FROM steps WHERE environment_id = $1 AND event_id = $2 AND kind = 'wait'",
  cancelled: "SELECT run_no FROM runs WHERE environment_id = $1 AND cancel_event_id = $2",
};

const RERUN_OF = `SELECT run_no FROM runs WHERE environment_id = $1 AND run_no = ANY($2) AND ${IS_RERUN}`;

/** Ids first, then the columns shown, so that each statement has only one possible plan, whatever the statistics. */
export async function listRuns(database: Database, params: RunListParams, compileWhere: CompileWhere): Promise<RunPage> {
  if (!hasRunFilters(params)) return pageOf(database, params);
  const read: Read = (text, values) => database.read(text, values);
  const events = async (sequences: readonly number[]) => [...(await eventsAt(read, params.environmentId, sequences)).values()];
  const rerun = async (runNos: readonly RunNo[]) =>
    (await read<{ run_no: RunNo }>(RERUN_OF, [params.environmentId, runNos])).map(({ run_no }) => run_no);
  return filterRuns({ page: (page) => pageOf(database, page), events, rerun, pause: async () => undefined }, params, compileWhere);
}

async function pageOf(database: Database, params: RunListParams): Promise<RunPage> {
  const { environmentId, status, functionNos, eventId, jobId, ids: named, limit } = params;
  const where = new Conditions();
  const isMerged = eventId === undefined && jobId === undefined && !named && (functionNos || status === "completed");
  const ids = isMerged ? idsOfFunctions(where, params) : await idsInOneRange(database, where, params);
  const found = await database.read<{ run_id: RunId; run_no: RunNo }>(`${ids} ORDER BY run_id DESC LIMIT ${limit + 1}`, where.values);
  const shown = found.slice(0, limit);
  const runs = await summariseRuns(database, { environmentId, runNos: shown.map(({ run_no }) => run_no) });
  runs.sort((a, b) => (a.id < b.id ? 1 : -1));
  return { runs, next: found.length > limit ? (shown.at(-1)?.run_id ?? null) : null };
}

async function idsInOneRange(database: Database, where: Conditions, params: RunListParams): Promise<string> {
  const { environmentId, status, functionNos, eventId, eventRelation = "started", jobId, ids } = params;
  where.add("environment_id = ?", environmentId);
  if (eventId !== undefined) {
    const runs = await database.read<{ run_no: number }>(RUNS_OF_EVENT[eventRelation], [environmentId, eventId]);
    where.add(
      "run_no = ANY (?::bigint[])",
      runs.map(({ run_no }) => run_no),
    );
  }
  if (jobId !== undefined) where.add("job_id = ?", jobId);
  if (ids) where.add("run_id = ANY (?::text[])", ids);
  if (functionNos) where.add("function_no = ANY (?::integer[])", functionNos);
  if (status !== undefined) where.add("status = ?", status);
  // The condition of the partial index: PostgreSQL uses the index only if the statement contains it.
  if (status !== undefined && status !== "completed") where.add("status <> 'completed'");
  addConditions(where, params);
  return `SELECT run_id, run_no FROM runs WHERE ${where.text}`;
}

/** The newest runs of each range; the newest of these form the page. */
function idsOfFunctions(where: Conditions, params: RunListParams): string {
  const { environmentId, status, functionNos, limit } = params;
  const environment = where.bind(environmentId);
  const functions = functionNos
    ? `unnest(${where.bind(functionNos)}::integer[]) AS f(function_no)`
    : `(SELECT function_no FROM functions WHERE environment_id = ${environment}) AS f`;
  const wanted = (status === undefined ? RUN_STATUSES : [status]).filter((one) => one !== "completed");
  addConditions(where, params);
  const newest = (condition: string) =>
    `LATERAL (SELECT run_id, run_no FROM runs WHERE environment_id = ${environment} AND runs.function_no = f.function_no AND ${condition}
       ${where.text && `AND ${where.text}`} ORDER BY run_id DESC LIMIT ${limit + 1}) AS r`;
  const ranges: string[] = [];
  if (status === undefined || status === "completed") {
    ranges.push(`SELECT r.run_id, r.run_no FROM ${functions}, ${newest("status = 'completed'")}`);
  }
  if (wanted.length > 0) {
    const statuses = `unnest(${where.bind(wanted)}::text[]) AS s(status)`;
    ranges.push(
      `SELECT r.run_id, r.run_no FROM ${functions}, ${statuses}, ${newest("runs.status = s.status AND runs.status <> 'completed'")}`,
    );
  }
  return `SELECT run_id, run_no FROM (${ranges.join(" UNION ALL ")}) AS ranges`;
}

function addConditions(where: Conditions, { after, from, to }: RunListParams): void {
  if (after !== undefined) where.add("run_id < ?", after);
  if (from !== undefined) where.add("run_id >= ?", firstIdAt(from));
  if (to !== undefined) where.add("run_id < ?", firstIdAt(to));
}
