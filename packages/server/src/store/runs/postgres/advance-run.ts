/** Changes runs as was decided: collects the rows to write, and writes them. */

import type { RunNo } from "@inlet/protocol";
import type { CallRecord, EventBatch, FailedAttempt, LateCall } from "../../contract/index.ts";
import type { Database } from "../../postgres/database.ts";
import { insertInto, jsonRows, recordset } from "../../postgres/json-rows.ts";
import { PendingWrites } from "../../postgres/pending-writes.ts";
import type { LeaseAllocation } from "../../queue/policy/lease-allocation.ts";
import type { Arrival } from "../../queue/postgres/queue-entries.ts";
import { figuresOfRun } from "../../traffic/policy.ts";
import { planRunWrites, type RunWrites } from "../policy/plan-run-writes.ts";
import type { DecidedAdvance } from "./decide-advances.ts";
import { WRITE_STEPS, writtenStep } from "./step-rows.ts";

/** The effects of a change other than rows. */
export interface Advanced {
  events: readonly EventBatch[];
  arrivals: readonly Arrival[];
}

export function advanceRun(writes: PendingWrites, allocation: LeaseAllocation, { state, entry, change }: DecidedAdvance): Advanced {
  const runNo = state.run.no;
  writes.notices.runNos.add(runNo);
  for (const attempt of change.attempts ?? []) writes.attempts.push({ runNo, attempt });
  if (change.call) writes.calls.push({ runNo, call: change.call });
  const planned = planRunWrites(state, entry, change, allocation);
  writes.traffic.push(...figuresOfRun(writes.environmentId, state.run, planned.run));
  gather(writes, allocation, planned);
  for (const approval of planned.approvalsAdded) writes.approvalsAdded.push({ run: state.run, approval });
  if (planned.endsApprovals) writes.approvalsEnded.push({ runNo, now: allocation.now });
  const { resumed } = planned;
  const arrivals = resumed ? [{ allocation, ...resumed, eventSequence: null, endedRunNo: runNo }] : [];
  return { events: change.events ?? [], arrivals };
}

function gather(writes: PendingWrites, allocation: LeaseAllocation, planned: RunWrites): void {
  const { runNo } = planned;
  writes.runsChanged.push({ runNo, run: planned.run });
  for (const step of planned.steps) writes.steps.push({ runNo, step });
  for (const entryNo of planned.slotsFreed) writes.slotsFreed.push({ runNo, entryNo });
  // Entries of an ended run are removed by its number: one may have been added since they were read.
  if (planned.isEnd) writes.runsEnded.push(runNo);
  else writes.entriesRemoved.push(...planned.entriesRemoved);
  if (planned.order) writes.ordersEnded.push({ runNo, heldAt: planned.order === "held" ? allocation.now : null });
  writes.entriesAgain.push(...planned.entriesAgain);
  writes.entriesReset.push(...planned.entriesReset);
  for (const renewed of planned.entriesRenewed) writes.entriesRenewed.push({ allocation, ...renewed });
  for (const added of planned.entriesAdded) writes.entriesAdded.push({ allocation, ...added });
  for (const stepId of planned.waitsRemoved) writes.waitsRemoved.push({ runNo, stepId });
  for (const wait of planned.waitsAdded) {
    if (wait.kind === "signal") writes.signalsAdded.push({ allocation, runNo, wait });
    else writes.waitsAdded.push({ runNo, wait });
  }
}

const CHANGED = {
  run_no: "bigint",
  status: "text",
  started_at: "bigint",
  ended_at: "bigint",
  request_version: "integer",
  is_parallel: "smallint",
  state_bytes: "bigint",
  output: "text",
  error: "text",
  cancel_event_id: "text",
};
/** The rows are locked, and the numbers select their partitions: see run-state.ts. */
const UPDATE_RUNS = `
  UPDATE runs SET status = r.status, started_at = r.started_at, ended_at = r.ended_at, request_version = r.request_version,
    is_parallel = r.is_parallel, state_bytes = r.state_bytes, output = r.output, error = r.error, cancel_event_id = r.cancel_event_id
  FROM ${recordset(CHANGED)}
  WHERE runs.environment_id = $2 AND runs.run_no = ANY ($3::bigint[]) AND runs.run_no = r.run_no`;
const ADD_ATTEMPTS = insertInto("failed_attempts", {
  environment_id: "integer",
  run_no: "bigint",
  step_id: "text",
  attempt: "integer",
  started_at: "bigint",
  ended_at: "bigint",
  http_status: "integer",
  error: "text",
});
const ADD_CALLS = insertInto("calls", {
  environment_id: "integer",
  run_no: "bigint",
  step_id: "text",
  attempt: "integer",
  started_at: "bigint",
  ended_at: "bigint",
  http_status: "integer",
  is_error: "smallint",
  path: "text",
  steps_given: "integer",
  answer: "text",
  answer_length: "integer",
  logs: "text",
});
const FIND_CALL = `
  SELECT 1 FROM calls WHERE environment_id = $1 AND run_no = $2 AND started_at = $3 AND step_id IS NOT DISTINCT FROM $4 AND attempt = $5`;

/** Writes the rows of the runs themselves, and of what is stored with them. */
export function writeRuns(writes: PendingWrites): void {
  const { environmentId, runsChanged, steps, attempts, calls } = writes;
  if (runsChanged.length > 0) {
    const rows = runsChanged.map(({ runNo, run }) => runColumns(runNo, run));
    writes.send(
      UPDATE_RUNS,
      jsonRows(rows),
      environmentId,
      runsChanged.map(({ runNo }) => runNo),
    );
  }
  const insert = (text: string, rows: readonly object[]) => {
    if (rows.length > 0) writes.send(text, jsonRows(rows.map((row) => ({ environment_id: environmentId, ...row }))));
  };
  insert(WRITE_STEPS, lastOfEach(steps).map(writtenStep));
  insert(ADD_ATTEMPTS, attempts.map(attemptColumns));
  insert(ADD_CALLS, calls.map(callColumns));
}

/** A change may write a step twice, as planned and as completed, but a statement can write a row only once. */
function lastOfEach(steps: PendingWrites["steps"]): PendingWrites["steps"] {
  return [...new Map(steps.map((one) => [`${one.runNo} ${one.step.id}`, one])).values()];
}

function runColumns(runNo: RunNo, run: RunWrites["run"]) {
  const { status, startedAt, endedAt, requestVersion, isParallel, stateBytes, output, error, cancelledBy } = run;
  return {
    run_no: runNo,
    status,
    started_at: startedAt,
    ended_at: endedAt,
    request_version: requestVersion,
    is_parallel: isParallel ? 1 : 0,
    state_bytes: stateBytes,
    output,
    error: error && JSON.stringify(error),
    cancel_event_id: cancelledBy,
  };
}

function attemptColumns({ runNo, attempt: failed }: { runNo: RunNo; attempt: FailedAttempt }) {
  const { stepId, attempt, startedAt, endedAt, httpStatus, error } = failed;
  return {
    run_no: runNo,
    step_id: stepId,
    attempt,
    started_at: startedAt,
    ended_at: endedAt,
    http_status: httpStatus,
    error: JSON.stringify(error),
  };
}

function callColumns({ runNo, call }: { runNo: RunNo; call: CallRecord }) {
  const { stepId, attempt, startedAt, endedAt, httpStatus, outcome, path, stepsGiven, answer, answerLength } = call;
  return {
    run_no: runNo,
    step_id: stepId,
    attempt,
    started_at: startedAt,
    ended_at: endedAt,
    http_status: httpStatus,
    is_error: outcome === "error" ? 1 : 0,
    path,
    steps_given: stepsGiven,
    answer,
    answer_length: answerLength,
    logs: call.logs && JSON.stringify(call.logs),
  };
}

/** Stores, once, a call whose response arrived too late to change the run. */
export async function noteLateCall(
  database: Database,
  { environmentId, runNo, call, failure }: LateCall,
): Promise<PendingWrites["notices"]> {
  return database.transaction(async (client) => {
    const writes = new PendingWrites(client, environmentId);
    const known = await writes.rows(FIND_CALL, environmentId, runNo, call.startedAt, call.stepId, call.attempt);
    if (known.length > 0) return writes.notices;
    writes.calls.push({ runNo, call });
    if (failure) writes.attempts.push({ runNo, attempt: failure });
    writes.notices.runNos.add(runNo);
    writeRuns(writes);
    await writes.settle();
    return writes.notices;
  });
}
