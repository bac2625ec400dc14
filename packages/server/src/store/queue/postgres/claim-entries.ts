/**
 * Claims entries of a lane. Entries that another transaction is claiming or finishing are skipped. Limits are
 * locked before entries are read, so that two nodes never take the same free slot.
 */

import type { EntryNo, EnvironmentId, FunctionNo, LeaseId, RunNo, StepId } from "@inlet/protocol";
import type { PoolClient } from "pg";
import {
  type ClaimedEntry,
  type EntryKind,
  fromStoreText,
  type QueueClaimParams,
  type QueueClaimResult,
  TIMER_LANE,
  toStoreText,
  type WaitOutcome,
} from "../../contract/index.ts";
import { freeSlotsOf, lockLimits, takeSlots } from "../../limits/postgres.ts";
import { recordset } from "../../postgres/json-rows.ts";
import { LeaseAllocation } from "../policy.ts";

const COLUMNS = `
  entry_no, environment_id, lane, home_lane, rank, home_rank, due_at, kind, run_no, function_no, step_id, attempt, claims, calling_trials,
  concluding_trials, subject,
  event_no, ended_run_no, outcome`;
/** The first entries of a lane along its index. Leased ones are skipped: they keep their rank, so the oldest are often first. */
const DUE = `
  SELECT ${COLUMNS} FROM queue WHERE lane = $1 AND lane <> '${TIMER_LANE}' AND due_at <= $2
  ORDER BY rank, entry_no LIMIT $3 FOR UPDATE SKIP LOCKED`;
const DUE_TIMERS = `
  SELECT ${COLUMNS} FROM queue WHERE lane = '${TIMER_LANE}' AND rank <= $1 AND due_at <= $1
  ORDER BY rank, entry_no LIMIT $2 FOR UPDATE SKIP LOCKED`;
const LEASED = { environment_id: "integer", entry_no: "bigint", lane: "text", rank: "bigint", lease_id: "text" };
const LEASE = `
  UPDATE queue SET lane = r.lane, rank = r.rank, due_at = $2, lease_id = r.lease_id, leased_by = $3, claims = claims + 1
  FROM ${recordset(LEASED)} WHERE queue.environment_id = r.environment_id AND queue.entry_no = r.entry_no`;
const SEND_HOME = `
  UPDATE queue SET lane = home_lane, rank = home_rank FROM unnest($1::integer[], $2::bigint[]) AS sent(environment_id, entry_no)
  WHERE queue.environment_id = sent.environment_id AND queue.entry_no = sent.entry_no`;
const STATUSES = "SELECT run_no, status FROM runs WHERE environment_id = $1 AND run_no = ANY ($2::bigint[])";
/** A run that is being changed is skipped: that change determines what happens to it. */
const LOCK_RUNS = `${STATUSES} ORDER BY run_no FOR UPDATE SKIP LOCKED`;
const BEGIN_RUNS = "UPDATE runs SET status = 'running' WHERE environment_id = $1 AND run_no = ANY ($2::bigint[])";

interface QueueRow {
  entry_no: EntryNo;
  environment_id: EnvironmentId;
  lane: string;
  home_lane: string;
  rank: number;
  home_rank: number;
  due_at: number;
  kind: EntryKind;
  run_no: RunNo | null;
  function_no: FunctionNo;
  step_id: string;
  attempt: number;
  claims: number;
  calling_trials: number;
  concluding_trials: number;
  subject: string | null;
  event_no: number | null;
  ended_run_no: RunNo | null;
  outcome: string | null;
}

export interface Claim extends QueueClaimResult {
  /** Runs that begin. */
  begun: RunNo[];
  /** Lanes to which entries were moved without a lease. */
  lanesSent: string[];
}

/** `noteLease` is called with every lease before it is written. */
export async function claimEntries(
  client: PoolClient,
  { lane, limit, now, lease, limits: rules }: QueueClaimParams,
  noteLease: (entry: { environmentId: EnvironmentId; no: EntryNo; leaseId: LeaseId }) => void,
): Promise<Claim> {
  // Pipelined, and run in this order: slots are counted with the limits locked.
  const [, free] = await Promise.all([lockLimits(client, rules), freeSlotsOf(client, rules, now)]);
  const room = Math.min(limit, ...free.values());
  const rows = room > 0 ? await dueEntries(client, lane, now, room) : [];
  const allocation = new LeaseAllocation(now, lease);
  // Calls in the lane of timers move to their own lane: they are leased if it has capacity, otherwise they wait there.
  const sent = rows.filter((row) => isAway(row) && !allocation.take(fromStoreText(row.home_lane)));
  const claimed = rows
    .filter((row) => !sent.includes(row))
    .map((row) => toClaimed(row, { leaseId: lease.newId(), leasedUntil: lease.until }));
  for (const entry of claimed) noteLease(entry);
  const holders = claimed.flatMap(({ environmentId, runNo, no }) => (runNo === null ? [] : [{ environmentId, runNo, entryNo: no }]));
  const [begun] = await Promise.all([
    beginRuns(client, claimed),
    leaseEntries(client, claimed, rows, lease),
    sendHome(client, sent),
    takeSlots(client, rules, holders),
  ]);
  const fullLimits = [...free].filter(([, slots]) => slots <= holders.length).map(([id]) => id);
  const lanesSent = [...new Set(sent.map(({ home_lane }) => fromStoreText(home_lane)))];
  return { claimed, more: rows.length === room, fullLimits, begun, lanesSent };
}

function isAway({ kind, lane, home_lane }: QueueRow): boolean {
  return kind === "call" && lane !== home_lane;
}

async function dueEntries(client: PoolClient, lane: string, now: number, limit: number): Promise<QueueRow[]> {
  if (lane === TIMER_LANE) return (await client.query<QueueRow>(DUE_TIMERS, [now, limit])).rows;
  return (await client.query<QueueRow>(DUE, [toStoreText(lane), now, limit])).rows;
}

async function sendHome(client: PoolClient, sent: readonly QueueRow[]): Promise<void> {
  if (sent.length === 0) return;
  await client.query(SEND_HOME, [sent.map(({ environment_id }) => environment_id), sent.map(({ entry_no }) => entry_no)]);
}

async function leaseEntries(
  client: PoolClient,
  claimed: readonly ClaimedEntry[],
  rows: readonly QueueRow[],
  { until, node }: QueueClaimParams["lease"],
): Promise<void> {
  if (claimed.length === 0) return;
  const positions = new Map(
    rows.map((row) => [row.entry_no, row.kind === "call" ? { lane: row.home_lane, rank: row.home_rank } : { lane: row.lane, rank: until }]),
  );
  const leased = claimed.map(({ environmentId, no, leaseId }) => ({
    ...{ environment_id: environmentId, entry_no: no, ...positions.get(no), lease_id: leaseId },
  }));
  await client.query(LEASE, [JSON.stringify(leased), until, node]);
}

async function beginRuns(client: PoolClient, claimed: readonly ClaimedEntry[]): Promise<RunNo[]> {
  const calls = claimed.filter(({ kind, runNo }) => kind === "call" && runNo !== null);
  const begun: RunNo[] = [];
  for (const environmentId of new Set(calls.map((entry) => entry.environmentId))) {
    const runNos = calls.filter((entry) => entry.environmentId === environmentId).map(({ runNo }) => runNo as RunNo);
    const queued = await queuedOf(client, LOCK_RUNS, environmentId, await queuedOf(client, STATUSES, environmentId, runNos));
    if (queued.length > 0) await client.query(BEGIN_RUNS, [environmentId, queued]);
    begun.push(...queued);
  }
  return begun;
}

async function queuedOf(client: PoolClient, text: string, environmentId: EnvironmentId, runNos: readonly RunNo[]): Promise<RunNo[]> {
  if (runNos.length === 0) return [];
  const { rows } = await client.query<{ run_no: RunNo; status: string }>(text, [environmentId, runNos]);
  return rows.filter(({ status }) => status === "queued").map(({ run_no }) => run_no);
}

function toClaimed(row: QueueRow, lease: Pick<ClaimedEntry, "leaseId" | "leasedUntil">): ClaimedEntry {
  return {
    ...lease,
    ...{ no: row.entry_no, kind: row.kind, environmentId: row.environment_id, lane: fromStoreText(row.home_lane) },
    ...{ rank: row.kind === "call" ? row.home_rank : row.rank, dueAt: row.due_at },
    ...{ runNo: row.run_no, functionNo: row.function_no, stepId: (fromStoreText(row.step_id) || null) as StepId | null },
    ...{ attempt: row.attempt, claims: row.claims + 1, trials: { calling: row.calling_trials, concluding: row.concluding_trials } },
    ...{ subject: row.subject === null ? null : fromStoreText(row.subject), eventSequence: row.event_no, endedRunNo: row.ended_run_no },
    outcome: row.outcome === null ? null : (JSON.parse(row.outcome) as WaitOutcome),
  };
}
