/**
 * Claims entries of a lane. Entries that another transaction is claiming or finishing are skipped. Limits are
 * locked before entries are read, so that two nodes never take the same free slot.
 */

import type { EntryNo, EnvironmentId, LeaseId, RunNo } from "@inlet/protocol";
import type { PoolClient } from "pg";
import { type ClaimedEntry, type QueueClaimParams, type QueueClaimResult, TIMER_LANE } from "../../contract/index.ts";
import { freeSlotsOf, lockLimits, takeSlots } from "../../limits/postgres.ts";
import { notFenced } from "../../postgres/fenced.ts";
import { jsonRows, recordset } from "../../postgres/json-rows.ts";
import { claimResult, claimRoom, leasedPosition, runsToBegin, slotHolders, splitDue } from "../policy/claim.ts";
import { LeaseAllocation } from "../policy/lease-allocation.ts";
import { QUEUE_COLUMNS, type QueueRow, toClaimed } from "../rows.ts";

/** The first entries of a lane along its index. Leased ones are skipped: they keep their rank, so the oldest are often first. */
const DUE = `
  SELECT ${QUEUE_COLUMNS} FROM queue WHERE lane = $1 AND lane <> '${TIMER_LANE}' AND due_at <= $2 AND ${notFenced("environment_id")}
  ORDER BY rank, entry_no LIMIT $3 FOR UPDATE SKIP LOCKED`;
const DUE_TIMERS = `
  SELECT ${QUEUE_COLUMNS} FROM queue WHERE lane = '${TIMER_LANE}' AND rank <= $1 AND due_at <= $1
    AND ${notFenced("environment_id")}
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
  const room = claimRoom(limit, free);
  const rows = room > 0 ? await dueEntries(client, lane, now, room) : [];
  const { leased, sentHome } = splitDue(rows, new LeaseAllocation(now, lease));
  const claimed = leased.map((row) => toClaimed(row, lease.newId(), lease.until));
  for (const entry of claimed) noteLease(entry);
  const holders = slotHolders(claimed).map(({ environmentId, runNo, no }) => ({ environmentId, runNo, entryNo: no }));
  const [begun] = await Promise.all([
    beginRuns(client, claimed),
    leaseEntries(client, claimed, leased, lease),
    sendHome(client, sentHome),
    takeSlots(client, rules, holders),
  ]);
  const lanesSent = [...new Set(sentHome.map(({ home_lane }) => home_lane))];
  return { ...claimResult(claimed, { found: rows.length, room, free }), begun, lanesSent };
}

async function dueEntries(client: PoolClient, lane: string, now: number, limit: number): Promise<QueueRow[]> {
  const isTimers = lane === TIMER_LANE;
  const { rows } = await client.query<QueueRow>(isTimers ? DUE_TIMERS : DUE, isTimers ? [now, limit] : [lane, now, limit]);
  return rows;
}

async function sendHome(client: PoolClient, sent: readonly QueueRow[]): Promise<void> {
  if (sent.length === 0) return;
  await client.query(SEND_HOME, [sent.map(({ environment_id }) => environment_id), sent.map(({ entry_no }) => entry_no)]);
}

/** `rows`: of the claimed entries, in the same order. */
async function leaseEntries(
  client: PoolClient,
  claimed: readonly ClaimedEntry[],
  rows: readonly QueueRow[],
  { until, node }: QueueClaimParams["lease"],
): Promise<void> {
  if (claimed.length === 0) return;
  const leased = claimed.map(({ environmentId, no, leaseId }, index) => {
    const { lane, rank } = leasedPosition(rows[index] as QueueRow, until);
    return { environment_id: environmentId, entry_no: no, lane, rank, lease_id: leaseId };
  });
  await client.query(LEASE, [jsonRows(leased), until, node]);
}

async function beginRuns(client: PoolClient, claimed: readonly ClaimedEntry[]): Promise<RunNo[]> {
  const calls = runsToBegin(claimed);
  const begun: RunNo[] = [];
  for (const environmentId of new Set(calls.map((entry) => entry.environmentId))) {
    const runNos = calls.filter((entry) => entry.environmentId === environmentId).map(({ runNo }) => runNo);
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
