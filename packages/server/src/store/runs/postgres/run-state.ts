/**
 * Reads the input of decisions, for all runs of a group at once. The rows of the runs are locked until the group is written. The events
 * that started the runs are not read: most decisions do not need them, and they may be large.
 */

import type { EntryNo, LeaseId, RunNo, StepId } from "@inlet/protocol";
import type { EntryRecord, RunRecord, RunState, StepRecord } from "../../contract/index.ts";
import type { PendingWrites } from "../../postgres/pending-writes.ts";
import { RUN_COLUMNS, type RunRow, toRunRecord } from "../rows/run-rows.ts";
import { type StepRow, toStepRecord } from "../rows/step-rows.ts";
import { SELECT_STEPS } from "./step-rows.ts";

/**
 * Runs are selected only by their numbers: with a condition on their state, PostgreSQL might scan an index of all unfinished runs.
 * Statements without a name are planned with their values: the numbers select partitions at planning time. One that waits for a locked
 * row and then rechecks it must not select partitions at execution time: PostgreSQL 18 crashes on that.
 */
const LOCK_RUNS = "SELECT 1 FROM runs WHERE environment_id = $1 AND run_no = ANY ($2::bigint[]) ORDER BY run_no FOR UPDATE";
export const SELECT_RUNS = `SELECT ${RUN_COLUMNS} FROM runs`;
const RUNS = `${SELECT_RUNS} WHERE runs.environment_id = $1 AND run_no = ANY ($2::bigint[])`;
const STEPS = `${SELECT_STEPS} WHERE environment_id = $1 AND run_no = ANY ($2::bigint[]) ORDER BY run_no, position`;
/**
 * A discovery cannot be claimed while results that it must include are being written: it would be sent without them, and not be
 * repeated. Nor can an entry in progress whose lease expires at this moment. Timeouts are left to the events that make them due.
 */
const LOCK_ENTRIES = `
  SELECT 1 FROM queue WHERE environment_id = $1 AND (run_no = ANY ($2::bigint[]) AND kind <> 'resume' OR entry_no = ANY ($3::bigint[]))
  ORDER BY entry_no FOR UPDATE`;
const ENTRIES = `
  SELECT run_no, entry_no, kind, step_id, attempt, claims, lease_id, home_rank, again, event_no FROM queue
  WHERE environment_id = $1 AND run_no = ANY ($2::bigint[])`;

interface EntryRow {
  run_no: RunNo;
  entry_no: EntryNo;
  kind: string;
  step_id: string;
  attempt: number;
  claims: number;
  lease_id: LeaseId | null;
  home_rank: number;
  again: number;
  event_no: number | null;
}

export interface LockedState extends Omit<RunState, "events"> {
  /** The sequence numbers of the events that started it. */
  eventSequences: readonly number[];
}

/** The states of unfinished runs, by run. `held` are the leased entries, including those without a run. */
export async function lockRunStates(
  writes: PendingWrites,
  runNos: readonly RunNo[],
  held: readonly EntryNo[],
): Promise<Map<RunNo, LockedState>> {
  const { environmentId } = writes;
  if (runNos.length > 0) writes.send(LOCK_RUNS, environmentId, runNos);
  // One statement for all of them, in the order of their numbers, like lease renewals.
  writes.send(LOCK_ENTRIES, environmentId, runNos, held);
  if (runNos.length === 0) return new Map();
  const [runRows, stepRows, entryRows] = await Promise.all([
    writes.rows<RunRow>(RUNS, environmentId, runNos),
    writes.rows<StepRow & { run_no: RunNo }>(STEPS, environmentId, runNos),
    writes.rows<EntryRow>(ENTRIES, environmentId, runNos),
  ]);
  const runs = unfinished(runRows);
  const steps = groupBy(stepRows, ({ run_no }) => run_no);
  const entries = groupBy(entryRows, ({ run_no }) => run_no);
  return new Map(
    runs.map((row) => {
      const run = toRunRecord(row);
      const state: LockedState = {
        run,
        steps: (steps.get(run.no) ?? []).map((step): StepRecord => toStepRecord(step)),
        entries: (entries.get(run.no) ?? []).map(toEntry),
        eventSequences: sequencesOf(row),
      };
      return [run.no, state];
    }),
  );
}

interface EndRow {
  run_no: RunNo;
  ended_at: number | null;
}

export function unfinished<Row extends { ended_at: number | null }>(rows: readonly Row[]): Row[] {
  return rows.filter(({ ended_at }) => ended_at === null);
}

export interface RunStart {
  functionNo: RunRecord["functionNo"];
  eventSequence: number;
}

/** The function and the event of each unfinished run. */
export async function runStarts(writes: PendingWrites, runNos: readonly RunNo[]): Promise<Map<RunNo, RunStart>> {
  if (runNos.length === 0) return new Map();
  const rows = await writes.rows<EndRow & { function_no: RunRecord["functionNo"]; event_no: number }>(
    "SELECT run_no, ended_at, function_no, event_no FROM runs WHERE environment_id = $1 AND run_no = ANY ($2::bigint[])",
    writes.environmentId,
    [...new Set(runNos)],
  );
  return new Map(
    unfinished(rows).map(({ run_no, function_no, event_no }) => [run_no, { functionNo: function_no, eventSequence: event_no }]),
  );
}

export function sequencesOf({ event_nos, event_no }: Pick<RunRow, "event_nos" | "event_no">): number[] {
  return event_nos === null ? [event_no] : (JSON.parse(event_nos) as number[]);
}

export function groupBy<Row, Key>(rows: readonly Row[], keyOf: (row: Row) => Key): Map<Key, Row[]> {
  const groups = new Map<Key, Row[]>();
  for (const row of rows) {
    const group = groups.get(keyOf(row));
    if (group) group.push(row);
    else groups.set(keyOf(row), [row]);
  }
  return groups;
}

function toEntry({ entry_no, kind, step_id, attempt, claims, lease_id, home_rank, again, event_no }: EntryRow): EntryRecord {
  const stepId = (step_id || null) as StepId | null;
  const [rank, rediscovers] = [home_rank, again === 1];
  return { no: entry_no, kind, stepId, attempt, claims, leaseId: lease_id, rank, rediscovers, eventSequence: event_no };
}
