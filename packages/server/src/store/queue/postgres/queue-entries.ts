/**
 * Queue entries, written inside the transaction of the work they belong to, and leased at once if there is capacity.
 *
 * Rows of waits are always locked before rows of the queue: the transaction that ends a wait, for an event or for the end of its run,
 * holds its row, and any other finds it gone.
 */

import type { EntryNo, FunctionNo, RunNo, StepId } from "@inlet/protocol";
import { HELD_UNTIL, NO_PROBES, TIMER_LANE, type WaitOutcome } from "../../contract/index.ts";
import { pausedFunctions } from "../../held-calls/postgres.ts";
import { freeSlots } from "../../limits/postgres.ts";
import { endOrder } from "../../orders/postgres.ts";
import { jsonRows, recordset } from "../../postgres/json-rows.ts";
import type { EntryAdded, PendingWrites } from "../../postgres/pending-writes.ts";
import { type EntryPosition, type EntryWrite, type LeaseAllocation, unheld } from "../policy/lease-allocation.ts";

/** An event, run or signal that a step waited for. */
export interface Arrival {
  allocation: LeaseAllocation;
  runNo: RunNo;
  stepId: StepId;
  eventSequence: number | null;
  endedRunNo: RunNo | null;
  outcome?: WaitOutcome;
}

const COLUMNS = {
  lane: "text",
  home_lane: "text",
  rank: "bigint",
  home_rank: "bigint",
  due_at: "bigint",
  kind: "text",
  run_no: "bigint",
  function_no: "integer",
  step_id: "text",
  attempt: "integer",
  claims: "integer",
  lease_id: "text",
  leased_by: "text",
  subject: "text",
  event_no: "bigint",
};
const NAMES = Object.keys(COLUMNS);
const RETURNED = "entry_no, run_no, function_no, step_id, kind, subject, event_no";
const INSERT = `
  INSERT INTO queue (environment_id, entry_no, ${NAMES.join(", ")})
  SELECT $2, nextval('entry_numbers'), ${NAMES.map((name) => `r.${name}`).join(", ")} FROM ${recordset(COLUMNS)}`;
/** An existing entry of the same run, step and kind stays as it is. */
const ADD = `${INSERT} ON CONFLICT DO NOTHING RETURNING ${RETURNED}`;
/** An existing entry of the same subject is moved. */
const ADD_OR_MOVE = `${INSERT}
  ON CONFLICT (environment_id, function_no, kind, md5(subject)) WHERE subject IS NOT NULL DO UPDATE SET
    rank = excluded.rank, home_rank = excluded.home_rank, due_at = excluded.due_at, claims = excluded.claims, calling_probes = 0, concluding_probes = 0, lease_id = excluded.lease_id,
    leased_by = excluded.leased_by, event_no = excluded.event_no
  RETURNING ${RETURNED}`;

/** All entries of ended runs, except calls in progress: the nodes that make these remove them. $3: entries that are done. */
const END = `
  DELETE FROM queue WHERE environment_id = $1 AND run_no = ANY ($2::bigint[])
    AND (kind <> 'call' OR lease_id IS NULL OR entry_no = ANY ($3::bigint[]))`;

const RENEWED = {
  entry_no: "bigint",
  lane: "text",
  rank: "bigint",
  home_rank: "bigint",
  due_at: "bigint",
  attempt: "integer",
  claims: "integer",
  lease_id: "text",
  leased_by: "text",
};
const RENEW = `
  UPDATE queue SET lane = r.lane, rank = r.rank, home_rank = r.home_rank, due_at = r.due_at, attempt = r.attempt, claims = r.claims, calling_probes = 0,
    concluding_probes = 0,
    lease_id = r.lease_id, leased_by = r.leased_by, again = 0
  FROM ${recordset(RENEWED)} WHERE queue.environment_id = $2 AND queue.entry_no = r.entry_no`;

const DUE = {
  run_no: "bigint",
  step_id: "text",
  rank: "bigint",
  due_at: "bigint",
  claims: "integer",
  lease_id: "text",
  leased_by: "text",
  event_no: "bigint",
  ended_run_no: "bigint",
  outcome: "text",
};
/** Skips an entry that is leased because it timed out, or that has already received something. */
const MAKE_DUE = `
  UPDATE queue SET rank = r.rank, due_at = r.due_at, claims = r.claims, lease_id = r.lease_id, leased_by = r.leased_by,
    event_no = r.event_no, ended_run_no = r.ended_run_no, outcome = r.outcome
  FROM ${recordset(DUE)}
  WHERE queue.environment_id = $2 AND queue.run_no = r.run_no AND queue.step_id = r.step_id AND queue.kind = 'resume'
    AND queue.lease_id IS NULL AND queue.event_no IS NULL AND queue.ended_run_no IS NULL AND queue.outcome IS NULL
  RETURNING queue.entry_no, queue.run_no, queue.step_id, queue.function_no, queue.attempt`;

/** The entry is leased because it timed out. Whoever holds it resumes the run with the event. */
const NOTE_ARRIVALS = `
  UPDATE queue SET event_no = r.event_no FROM unnest($2::bigint[], $3::text[], $4::bigint[]) AS r(run_no, step_id, event_no)
  WHERE queue.environment_id = $1 AND queue.run_no = r.run_no AND queue.step_id = r.step_id AND queue.kind = 'resume'
    AND queue.event_no IS NULL AND queue.ended_run_no IS NULL AND queue.outcome IS NULL
  RETURNING queue.event_no`;

interface AddedRow {
  entry_no: EntryNo;
  run_no: number | null;
  function_no: number;
  step_id: string;
  kind: string;
  subject: string | null;
  event_no: number | null;
}

/** In the order: removed, changed, added. Waits have been removed before. */
export async function writeEntries(writes: PendingWrites): Promise<void> {
  const { environmentId, entriesRemoved, runsEnded, entriesAgain, entriesReset, entriesRenewed, slotsFreed } = writes;
  const freed = freeSlots(writes, { entries: slotsFreed, runs: runsEnded });
  const send = (text: string, numbers: readonly number[], ...others: unknown[]) => {
    if (numbers.length > 0) writes.send(text, environmentId, numbers, ...others);
  };
  const done = slotsFreed.map(({ entryNo }) => entryNo);
  send(END, runsEnded, done);
  send("DELETE FROM queue WHERE environment_id = $1 AND entry_no = ANY ($2::bigint[])", entriesRemoved);
  send("UPDATE queue SET again = 1 WHERE environment_id = $1 AND entry_no = ANY ($2::bigint[])", entriesAgain);
  send("UPDATE queue SET attempt = 0 WHERE environment_id = $1 AND entry_no = ANY ($2::bigint[])", entriesReset);
  renewEntries(writes, entriesRenewed);
  const ended = endOrder(writes);
  await Promise.all([freed, ended, addEntries(writes, writes.entriesAdded)]);
}

/** Resets entries: for another attempt, or one more discovery. */
function renewEntries(writes: PendingWrites, renewed: PendingWrites["entriesRenewed"]): void {
  if (renewed.length === 0) return;
  const rows = renewed.map(({ no, write, position }) => ({ entry_no: no, attempt: write.attempt, ...positionColumns(write, position) }));
  writes.send(RENEW, jsonRows(rows), writes.environmentId);
  for (const { no, ...entry } of renewed) noteWritten(writes, entry, no);
}

export async function addEntries(writes: PendingWrites, planned: readonly EntryAdded[]): Promise<void> {
  const added = await heldOrDue(writes, planned);
  // Of several with one subject, the last one is written: a statement can move a row only once.
  const named = new Map(added.filter(({ write }) => write.subject !== null).map((entry) => [keyOf(entry.write), entry]));
  const others = added.filter(({ write }) => write.subject === null);
  for (const [text, entries] of [
    [ADD, others],
    [ADD_OR_MOVE, [...named.values()]],
  ] as const) {
    if (entries.length === 0) continue;
    const rows = entries.map(entryColumns);
    const written = await writes.rows<AddedRow>(text, jsonRows(rows), writes.environmentId);
    noteAdded(writes, entries, written);
  }
}

/** Whoever plans a held entry may not know yet that its function goes on. */
async function heldOrDue(writes: PendingWrites, planned: readonly EntryAdded[]): Promise<readonly EntryAdded[]> {
  const isHeld = ({ write }: EntryAdded) => write.dueAt === HELD_UNTIL;
  const functionNos = new Set(planned.filter(isHeld).map(({ write }) => write.functionNo));
  if (functionNos.size === 0) return planned;
  const paused = await pausedFunctions(writes, [...functionNos]);
  return planned.map((entry) => (isHeld(entry) && !paused.has(entry.write.functionNo) ? unheld(entry, entry.allocation.now) : entry));
}

/** The database assigns the numbers: entries are matched to rows by the columns that distinguish them. */
function noteAdded(writes: PendingWrites, entries: readonly EntryAdded[], rows: readonly AddedRow[]): void {
  const byKey = new Map<string, EntryAdded[]>();
  for (const entry of entries) {
    const others = byKey.get(keyOf(entry.write));
    if (others) others.push(entry);
    else byKey.set(keyOf(entry.write), [entry]);
  }
  for (const row of rows) {
    const { run_no, function_no, kind, subject, event_no } = row;
    const write = { runNo: run_no, functionNo: function_no, stepId: row.step_id || null, kind, subject, eventSequence: event_no };
    const entry = byKey.get(keyOf(write))?.shift();
    if (entry) noteWritten(writes, entry, row.entry_no);
  }
}

type EntryIdentity = Record<"runNo" | "functionNo" | "stepId" | "kind" | "subject" | "eventSequence", string | number | null>;

/** A batch or debounce is identified by its subject, not by its first event. */
function keyOf({ runNo, functionNo, stepId, kind, subject, eventSequence }: EntryIdentity): string {
  return JSON.stringify([runNo, functionNo, stepId, kind, subject, subject === null ? eventSequence : null]);
}

function noteWritten(writes: PendingWrites, { allocation, write, position }: EntryAdded, no: EntryNo): void {
  if (position.lease) allocation.noteWritten(write, no, position);
  else writes.announce(position.lane, write.dueAt);
}

function positionColumns(write: EntryWrite, { lane, rank, dueAt, lease }: EntryPosition) {
  const leased = { claims: lease ? 1 : 0, lease_id: lease?.id ?? null, leased_by: lease?.node ?? null };
  return { lane, rank, home_rank: write.rank, due_at: dueAt, ...leased };
}

function entryColumns({ write, position }: EntryAdded) {
  const { lane, kind, runNo, functionNo, stepId, attempt, subject, eventSequence } = write;
  return {
    ...positionColumns(write, position),
    home_lane: lane,
    kind,
    run_no: runNo,
    function_no: functionNo,
    step_id: stepId ?? "",
    attempt,
    subject,
    event_no: eventSequence,
  };
}

/** What steps waited for has arrived: their entries are due. Returns the arrivals that took effect; of several for one step, the first. */
export async function makeDue(writes: PendingWrites, arrivals: readonly Arrival[]): Promise<Arrival[]> {
  const firsts = new Map<string, Arrival & { position: EntryPosition }>();
  for (const arrival of arrivals) {
    const key = `${arrival.runNo} ${arrival.stepId}`;
    if (!firsts.has(key)) firsts.set(key, { ...arrival, position: duePosition(arrival.allocation) });
  }
  if (firsts.size === 0) return [];
  const rows = [...firsts.values()].map(({ runNo, stepId, eventSequence, endedRunNo, outcome, position: { rank, dueAt, lease } }) => ({
    run_no: runNo,
    step_id: stepId,
    rank,
    due_at: dueAt,
    claims: lease ? 1 : 0,
    lease_id: lease?.id ?? null,
    leased_by: lease?.node ?? null,
    event_no: eventSequence,
    ended_run_no: endedRunNo,
    outcome: outcome ? JSON.stringify(outcome) : null,
  }));
  const moved = await writes.rows<AddedRow & { attempt: number }>(MAKE_DUE, jsonRows(rows), writes.environmentId);
  const due = moved.flatMap((row) => {
    const key = `${row.run_no} ${row.step_id}`;
    const arrival = firsts.get(key);
    if (!arrival) return [];
    firsts.delete(key);
    noteDue(writes, arrival, row);
    return [arrival];
  });
  await noteArrivals(writes, [...firsts.values()]);
  return due;
}

async function noteArrivals(writes: PendingWrites, arrivals: readonly Arrival[]): Promise<void> {
  const events = arrivals.filter(({ eventSequence }) => eventSequence !== null);
  if (events.length === 0) return;
  const columns = [events.map(({ runNo }) => runNo), events.map(({ stepId }) => stepId)];
  const sequences = events.map(({ eventSequence }) => eventSequence);
  const noted = await writes.rows<{ event_no: number }>(NOTE_ARRIVALS, writes.environmentId, ...columns, sequences);
  writes.noteMatched(...noted.map(({ event_no }) => event_no));
}

function duePosition(allocation: LeaseAllocation): EntryPosition {
  return allocation.position({ kind: "resume", lane: TIMER_LANE, rank: allocation.now, dueAt: allocation.now });
}

function noteDue(writes: PendingWrites, arrival: Arrival & { position: EntryPosition }, row: AddedRow & { attempt: number }): void {
  const { allocation, runNo, stepId, eventSequence, endedRunNo, outcome = null, position } = arrival;
  const { now } = allocation;
  if (!position.lease) return writes.announce(TIMER_LANE, now);
  const write: EntryWrite = {
    environmentId: writes.environmentId,
    functionNo: row.function_no as FunctionNo,
    attempt: row.attempt,
    runNo,
    stepId,
    kind: "resume",
    lane: TIMER_LANE,
    rank: now,
    dueAt: now,
    subject: null,
    eventSequence,
  };
  const held = { no: row.entry_no, leaseId: position.lease.id, leasedUntil: position.dueAt, claims: 1, probes: NO_PROBES };
  allocation.leased.push({ ...write, endedRunNo, outcome, ...held });
}
