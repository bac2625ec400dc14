/** Admission of runs that wait in gates, in PostgreSQL. */

import type { EnvironmentId, FunctionNo, RunNo } from "@inlet/protocol";
import type { PoolClient } from "pg";
import {
  type AdmissionStore,
  type LimitRule,
  orderId,
  type RunAdmitParams,
  type RunAdmitResult,
  type RunThrottle,
  TIMER_LANE,
} from "../contract/index.ts";
import { freeSlotsOf, takeSlots } from "../limits/postgres.ts";
import { beginInOrder, isWaitingInOrder, nextInOrder } from "../orders/postgres.ts";
import { boundedKey } from "../postgres/bounded-key.ts";
import type { Database } from "../postgres/database.ts";
import { LockSet, limitLock, markLock } from "../postgres/locks.ts";
import { type Notices, noNotices, noteLane } from "../postgres/pending-writes.ts";
import { unfinished } from "../runs/postgres/run-state.ts";
import { admissionResult, admissionRoom, admittedCount, orderedAdmissionResult } from "./policy.ts";

/** All lanes of a function are in its environment. */
const ENVIRONMENT = "SELECT environment_id FROM functions WHERE function_no = $1";
/** One walk of the index per gate: the first runs of each, of which the first are taken. */
const FIRST_WAITING = `
  SELECT waiting.run_no, gate.lane FROM unnest($2::text[]) AS gate(lane) CROSS JOIN LATERAL (
    SELECT run_no, rank, entry_no FROM queue
    WHERE environment_id = $1 AND queue.lane = gate.lane AND queue.lane <> '${TIMER_LANE}' AND due_at <= $3
    ORDER BY rank, entry_no LIMIT $4) AS waiting
  ORDER BY waiting.rank, waiting.entry_no LIMIT $4`;
const LANES_WAITING = `
  SELECT gate.lane FROM unnest($2::text[]) AS gate(lane) CROSS JOIN LATERAL (
    SELECT FROM queue
    WHERE environment_id = $1 AND queue.lane = gate.lane AND queue.lane <> '${TIMER_LANE}' AND due_at <= $3
    ORDER BY rank, entry_no LIMIT 1) AS waiting`;
const DUE_CALL = `
  SELECT lane FROM queue WHERE environment_id = $1 AND run_no = $2 AND step_id = '' AND kind = 'call' AND due_at <= $3`;
/** Skips runs that are being changed, for example cancelled: that change triggers another admission. */
const LOCK_RUNS = `
  SELECT run_no, ended_at FROM runs WHERE environment_id = $1 AND run_no = ANY ($2::bigint[]) ORDER BY run_no FOR UPDATE SKIP LOCKED`;
const MOVE_RUNS = "UPDATE runs SET lane = $3 WHERE environment_id = $1 AND run_no = ANY ($2::bigint[])";
/** Its timers stay in the lane of timers. */
const MOVE_ENTRIES = `
  UPDATE queue SET lane = CASE lane WHEN $4 THEN $3 ELSE lane END, home_lane = $3
  WHERE environment_id = $1 AND run_no = ANY ($2::bigint[])`;
const READ_MARK = "SELECT value FROM marks WHERE environment_id = $1 AND function_no = $2 AND kind = 'throttle' AND key = $3";
const WRITE_MARK = `
  INSERT INTO marks (environment_id, function_no, kind, key, value, expires_at) VALUES ($1, $2, 'throttle', $3, $4, $5)
  ON CONFLICT (environment_id, function_no, kind, key) DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at`;

export interface AdmissionParts {
  database: Database;
  notify(notices: Notices): void;
}

type Gate = RunAdmitParams["gates"][number];

interface Waiting {
  runNo: RunNo;
  gate: Gate;
}

export function admissionStore({ database, notify }: AdmissionParts): AdmissionStore {
  return {
    async runAdmitMany(params) {
      const [row] = await database.query<{ environment_id: EnvironmentId }>(ENVIRONMENT, [params.functionNo]);
      if (!row) return { admitted: 0, waiting: [], more: false, nextAt: null };
      const { homes, ...result } = await database.transaction((client) => {
        const { orderKey } = params;
        return orderKey === null ? admit(client, row.environment_id, params) : admitInOrder(client, row.environment_id, orderKey, params);
      });
      const notices = noNotices();
      for (const home of homes) noteLane(notices, home, params.now);
      notify(notices);
      return result;
    },
    async throttleGet({ environmentId, functionNo, key }) {
      const [row] = await database.read<{ value: string }>(READ_MARK, [environmentId, functionNo, boundedKey(key)]);
      return row?.value ?? null;
    },
  };
}

async function admit(
  client: PoolClient,
  environmentId: EnvironmentId,
  { functionNo, limit, throttle, gates, now }: RunAdmitParams,
): Promise<RunAdmitResult & { homes: Set<string> }> {
  await lockRules(client, environmentId, functionNo, limit?.id ?? null, throttle);
  const free = limit && ((await freeSlotsOf(client, [limit], now)).get(limit.id) ?? 0);
  const found = await firstWaiting(client, environmentId, gates, now, admissionRoom(free));
  const locked = await lockRuns(client, environmentId, found);
  const lockable = locked.length;
  const throttled = throttle && lockable > 0 ? await ask(client, environmentId, functionNo, throttle, lockable) : null;
  const admitted = locked.slice(0, admittedCount({ lockable, throttled }));
  await move(client, environmentId, admitted, limit);
  const waiting = await lanesWaiting(client, environmentId, gates, now);
  return {
    ...admissionResult({ free, found: found.length, lockable, throttled, waiting }),
    homes: new Set(admitted.map(({ gate }) => gate.home)),
  };
}

/** The first run in order, once it is due and the throttle admits it. */
async function admitInOrder(
  client: PoolClient,
  environmentId: EnvironmentId,
  orderKey: string,
  { functionNo, throttle, gates, now }: RunAdmitParams,
): Promise<RunAdmitResult & { homes: Set<string> }> {
  const key = { environmentId, functionNo, orderKey };
  await lockRules(client, environmentId, functionNo, orderId(functionNo, orderKey), throttle);
  const runNo = await nextInOrder(client, key);
  const gate = runNo === null ? undefined : await gateOf(client, environmentId, runNo, gates, now);
  const locked = gate && runNo !== null ? await lockRuns(client, environmentId, [{ runNo, gate }]) : [];
  const throttled = throttle && locked.length > 0 ? await ask(client, environmentId, functionNo, throttle, 1) : null;
  const lockable = locked.length;
  const admitted = locked.slice(0, admittedCount({ lockable, throttled }));
  await move(client, environmentId, admitted, null);
  const waiting = (await isWaitingInOrder(client, key)) ? gates.map(({ lane }) => lane) : [];
  return { ...orderedAdmissionResult(throttled, { lockable, waiting }), homes: new Set(admitted.map((one) => one.gate.home)) };
}

/** The gate in which the run waits; undefined while it is not due. */
async function gateOf(client: PoolClient, environmentId: EnvironmentId, runNo: RunNo, gates: readonly Gate[], now: number) {
  const { rows } = await client.query<{ lane: string }>(DUE_CALL, [environmentId, runNo, now]);
  return gates.find(({ lane }) => lane === rows[0]?.lane);
}

async function lockRules(
  client: PoolClient,
  environmentId: EnvironmentId,
  functionNo: FunctionNo,
  limitId: string | null,
  throttle: RunThrottle | null,
): Promise<void> {
  const locks = new LockSet();
  if (limitId !== null) locks.add(limitLock(limitId), "alone");
  if (throttle) locks.add(markLock(environmentId, functionNo, { kind: "throttle", key: boundedKey(throttle.key) }), "alone");
  await locks.take(client);
}

async function firstWaiting(
  client: PoolClient,
  environmentId: EnvironmentId,
  gates: readonly Gate[],
  now: number,
  limit: number,
): Promise<Waiting[]> {
  if (limit === 0) return [];
  const byLane = new Map(gates.map((gate) => [gate.lane, gate]));
  const { rows } = await client.query<{ run_no: RunNo; lane: string }>(FIRST_WAITING, [environmentId, [...byLane.keys()], now, limit]);
  return rows.map(({ run_no, lane }) => ({ runNo: run_no, gate: byLane.get(lane) as Gate }));
}

async function lanesWaiting(client: PoolClient, environmentId: EnvironmentId, gates: readonly Gate[], now: number): Promise<string[]> {
  const lanes = gates.map(({ lane }) => lane);
  const { rows } = await client.query<{ lane: string }>(LANES_WAITING, [environmentId, lanes, now]);
  return rows.map(({ lane }) => lane);
}

async function lockRuns(client: PoolClient, environmentId: EnvironmentId, waiting: readonly Waiting[]): Promise<Waiting[]> {
  if (waiting.length === 0) return [];
  const runNos = waiting.map(({ runNo }) => runNo);
  const { rows } = await client.query<{ run_no: RunNo; ended_at: number | null }>(LOCK_RUNS, [environmentId, runNos]);
  const locked = new Set(unfinished(rows).map(({ run_no }) => run_no));
  return waiting.filter(({ runNo }) => locked.has(runNo));
}

async function ask(
  client: PoolClient,
  environmentId: EnvironmentId,
  functionNo: FunctionNo,
  { key, admit }: RunThrottle,
  wanted: number,
): Promise<{ count: number; nextAt: number }> {
  const mark = [environmentId, functionNo, boundedKey(key)];
  const { rows } = await client.query<{ value: string }>(READ_MARK, mark);
  const { count, remember, expiresAt, nextAt } = admit(rows[0]?.value ?? null, wanted);
  if (count > 0) await client.query(WRITE_MARK, [...mark, remember, expiresAt]);
  return { count, nextAt };
}

async function move(
  client: PoolClient,
  environmentId: EnvironmentId,
  admitted: readonly Waiting[],
  limit: LimitRule | null,
): Promise<void> {
  if (limit) {
    await takeSlots(
      client,
      [limit],
      admitted.map(({ runNo }) => ({ environmentId, runNo, entryNo: null })),
    );
  }
  for (const gate of new Set(admitted.map((one) => one.gate))) {
    const runNos = admitted.filter((one) => one.gate === gate).map(({ runNo }) => runNo);
    await client.query(MOVE_RUNS, [environmentId, runNos, gate.home]);
    await client.query(MOVE_ENTRIES, [environmentId, runNos, gate.home, gate.lane]);
    await beginInOrder(client, environmentId, runNos);
  }
}
