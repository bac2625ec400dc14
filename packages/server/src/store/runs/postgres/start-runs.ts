/** Writes runs with their first entries, inside the transaction of the events that start them. */

import type { RunNo } from "@inlet/protocol";
import type { NewRun } from "../../contract/index.ts";
import { joinOrder } from "../../orders/postgres.ts";
import { insertInto, jsonRows } from "../../postgres/json-rows.ts";
import type { PendingWrites, RunInsert } from "../../postgres/pending-writes.ts";
import type { EntryWrite, LeaseAllocation } from "../../queue/policy/lease-allocation.ts";
import { addRun } from "../../usage/policy.ts";

const INSERT = insertInto("runs", {
  run_no: "bigint",
  environment_id: "integer",
  run_id: "text",
  function_no: "integer",
  event_no: "bigint",
  event_nos: "text",
  status: "text",
  lane: "text",
  created_at: "bigint",
  cron: "text",
  original_run_id: "text",
  invoker_run_no: "bigint",
  invoker_step_id: "text",
  job_id: "text",
  order_key: "text",
});
const INSERT_BATCHED = `
  INSERT INTO batched_events (environment_id, event_no, run_no)
  SELECT $1, event_no, run_no FROM unnest($2::bigint[], $3::bigint[]) AS batched(event_no, run_no)`;

export function startRun(writes: PendingWrites, allocation: LeaseAllocation, runNo: RunNo, eventSequence: number, run: NewRun): void {
  const { functionNo, lane, dueAt, rank, startBy, cancels = [], steps = [] } = run;
  const { now } = allocation;
  const status = dueAt <= now && allocation.hasRoom(lane) ? "running" : "queued";
  writes.runsAdded.push({ runNo, run, eventSequence, status, createdAt: now });
  writes.notices.runNos.add(runNo);
  addRun(writes.usage, writes.environmentId, functionNo, now);
  const first = { environmentId: writes.environmentId, lane, rank, runNo, functionNo, stepId: null, attempt: 0, subject: null };
  addEntry(writes, allocation, { ...first, eventSequence: null, dueAt, kind: "call" });
  if (startBy !== undefined) addEntry(writes, allocation, { ...first, eventSequence: null, dueAt: startBy, kind: "start-by" });
  for (const [position, step] of steps.entries()) writes.steps.push({ runNo, step: { ...step, position, donePosition: position } });
  for (const wait of cancels) writes.waitsAdded.push({ runNo, wait });
}

/** For an event that was stored earlier: from now on it counts as matched. */
export function startRunForStored(...[writes, allocation, runNo, eventSequence, run]: Parameters<typeof startRun>): void {
  writes.noteMatched(...(run.eventSequences ?? [eventSequence]));
  startRun(writes, allocation, runNo, eventSequence, run);
}

export function addEntry(writes: PendingWrites, allocation: LeaseAllocation, write: EntryWrite): void {
  writes.entriesAdded.push({ allocation, write, position: allocation.position(write) });
}

export function insertRuns(writes: PendingWrites): void {
  const { runsAdded, environmentId } = writes;
  if (runsAdded.length === 0) return;
  writes.send(INSERT, jsonRows(runsAdded.map((added) => runColumns(writes, added))));
  joinOrder(writes);
  const batched = runsAdded.flatMap(({ runNo, run, eventSequence }) =>
    (run.eventSequences ?? []).filter((sequence) => sequence !== eventSequence).map((sequence) => ({ runNo, sequence })),
  );
  if (batched.length === 0) return;
  const columns = [batched.map(({ sequence }) => sequence), batched.map(({ runNo }) => runNo)];
  writes.send(INSERT_BATCHED, environmentId, ...columns);
}

function runColumns({ environmentId }: PendingWrites, added: RunInsert) {
  const { runNo, run, eventSequence, status, createdAt } = added;
  const { id, functionNo, lane, eventSequences, cron, originalRunId, jobId, invoker, order } = run;
  return {
    run_no: runNo,
    environment_id: environmentId,
    run_id: id,
    function_no: functionNo,
    event_no: eventSequence,
    status,
    event_nos: eventSequences ? JSON.stringify(eventSequences) : null,
    lane,
    created_at: createdAt,
    cron: cron ?? null,
    original_run_id: originalRunId ?? null,
    job_id: jobId ?? null,
    invoker_run_no: invoker?.runNo ?? null,
    invoker_step_id: invoker?.stepId ?? null,
    order_key: order?.text ?? null,
  };
}
