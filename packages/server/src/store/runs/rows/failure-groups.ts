/** Failed runs grouped by function and the pattern of their error, for both engines. */

import type { FunctionNo, RunId } from "@inlet/protocol";
import type { FailureGroup, FailureListParams, RunError } from "../../contract/index.ts";
import { FAILURE_TREND_PARTS } from "../contract/shown-runs.ts";
import { errorPattern } from "./error-pattern.ts";

export interface FailedRunRow {
  run_id: string;
  function_no: number;
  ended_at: number;
  error: string | null;
  is_rerun: number | boolean;
}

/** Rows read at a time. */
export const FAILURE_SLICE_ROWS = 2_000;
/** How many of the newest failed runs are examined. */
const RUNS_MAX = 200_000;
const GROUPS_MAX = 1_000;
const SAMPLES_MAX = 5;
const MESSAGE_UNITS_MAX = 500;
const NO_ERROR = { name: "Error", message: "" };

interface OpenGroup extends FailureGroup {
  runIds: RunId[];
  trend: number[];
  /** Samples of those that were repeated since; shown if there are no others. */
  rerunIds: RunId[];
}

/** `readSlice` reads the newest failed runs that are older than a given one. */
export async function groupFailures(
  readSlice: (before: RunId | null) => Promise<readonly FailedRunRow[]>,
  { limit, from, until, functionNos }: Pick<FailureListParams, "limit" | "from" | "until" | "functionNos">,
): Promise<FailureGroup[]> {
  // No function of that name: not all of them.
  if (functionNos?.length === 0) return [];
  const groups = new Map<string, OpenGroup>();
  const partMs = Math.max(1, (until - from) / FAILURE_TREND_PARTS);
  const partOf = (at: number) => Math.max(0, Math.min(FAILURE_TREND_PARTS - 1, Math.floor((at - from) / partMs)));
  let before: RunId | null = null;
  for (let seen = 0; seen < RUNS_MAX; ) {
    const rows = await readSlice(before);
    for (const row of rows) addTo(groups, row, partOf(row.ended_at));
    seen += rows.length;
    before = (rows.at(-1)?.run_id ?? null) as RunId | null;
    if (rows.length < FAILURE_SLICE_ROWS) break;
  }
  return [...groups.values()]
    .sort((a, b) => b.count - a.count || b.lastAt - a.lastAt)
    .slice(0, limit)
    .map(({ rerunIds, ...group }) => ({ ...group, runIds: group.count > 0 ? group.runIds : rerunIds }));
}

function addTo(groups: Map<string, OpenGroup>, row: FailedRunRow, part: number): void {
  const group = groupOf(groups, row);
  if (!group) return;
  const samples = row.is_rerun ? group.rerunIds : group.runIds;
  if (row.is_rerun) group.rerunCount++;
  else group.count++;
  group.trend[part] = (group.trend[part] ?? 0) + 1;
  group.firstAt = Math.min(group.firstAt, row.ended_at);
  group.lastAt = Math.max(group.lastAt, row.ended_at);
  if (samples.length < SAMPLES_MAX) samples.push(row.run_id as RunId);
}

function groupOf(groups: Map<string, OpenGroup>, row: FailedRunRow): OpenGroup | undefined {
  const { name, message: text } = row.error === null ? NO_ERROR : (JSON.parse(row.error) as RunError);
  const pattern = errorPattern({ name, message: text });
  const key = JSON.stringify([row.function_no, pattern]);
  const known = groups.get(key);
  if (known || groups.size >= GROUPS_MAX) return known;
  const group: OpenGroup = {
    functionNo: row.function_no as FunctionNo,
    name,
    message: text.slice(0, MESSAGE_UNITS_MAX),
    pattern,
    count: 0,
    rerunCount: 0,
    trend: Array.from({ length: FAILURE_TREND_PARTS }, () => 0),
    firstAt: row.ended_at,
    lastAt: row.ended_at,
    runIds: [],
    rerunIds: [],
  };
  groups.set(key, group);
  return group;
}
