/** Failed runs grouped by function and the pattern of their error, for both engines. */

import type { FunctionNo, RunId } from "@inlet/protocol";
import type { FailureGroup, RunError } from "../../contract/index.ts";
import { errorPattern } from "./error-pattern.ts";

export interface FailedRunRow {
  run_id: string;
  function_no: number;
  ended_at: number;
  error: string | null;
}

/** Rows read at a time. */
export const FAILURE_SLICE_ROWS = 2_000;
/** How many of the newest failed runs are examined. */
const RUNS_MAX = 200_000;
const GROUPS_MAX = 1_000;
const SAMPLES_MAX = 5;
const MESSAGE_UNITS_MAX = 500;
const NO_ERROR = { name: "Error", message: "" };

/** `readSlice` reads the newest failed runs that are older than a given one. */
export async function groupFailures(
  readSlice: (before: RunId | null) => Promise<readonly FailedRunRow[]>,
  limit: number,
): Promise<FailureGroup[]> {
  const groups = new Map<string, FailureGroup & { runIds: RunId[]; count: number }>();
  let before: RunId | null = null;
  for (let seen = 0; seen < RUNS_MAX; ) {
    const rows = await readSlice(before);
    for (const row of rows) addTo(groups, row);
    seen += rows.length;
    before = (rows.at(-1)?.run_id ?? null) as RunId | null;
    if (rows.length < FAILURE_SLICE_ROWS) break;
  }
  return [...groups.values()].sort((a, b) => b.count - a.count || b.lastAt - a.lastAt).slice(0, limit);
}

type OpenGroup = FailureGroup & { runIds: RunId[]; count: number };

function addTo(groups: Map<string, OpenGroup>, row: FailedRunRow): void {
  const { name, message: text } = row.error === null ? NO_ERROR : (JSON.parse(row.error) as RunError);
  const pattern = errorPattern({ name, message: text });
  const key = JSON.stringify([row.function_no, pattern]);
  const group = groups.get(key);
  if (!group) {
    if (groups.size >= GROUPS_MAX) return;
    const at = { firstAt: row.ended_at, lastAt: row.ended_at };
    const error = { name, message: text.slice(0, MESSAGE_UNITS_MAX), pattern };
    groups.set(key, { functionNo: row.function_no as FunctionNo, ...error, count: 1, ...at, runIds: [row.run_id as RunId] });
    return;
  }
  group.count++;
  group.firstAt = Math.min(group.firstAt, row.ended_at);
  group.lastAt = Math.max(group.lastAt, row.ended_at);
  if (group.runIds.length < SAMPLES_MAX) group.runIds.push(row.run_id as RunId);
}
