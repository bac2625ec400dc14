/** Positions of runs whose functions have an order, in PostgreSQL: assigned, advanced and freed inside transactions. */

import type { EnvironmentId, FunctionNo, RunNo } from "@inlet/protocol";
import type { PoolClient } from "pg";
import { type OrderStore, orderId } from "../contract/index.ts";
import type { Database } from "../postgres/database.ts";
import { jsonRows, recordset } from "../postgres/json-rows.ts";
import { type Notices, noNotices, type PendingWrites } from "../postgres/pending-writes.ts";
import { type HoldRow, toHold } from "./rows.ts";

const JOINED = { place: "integer", function_no: "integer", key: "text", run_no: "bigint", in_place_of: "bigint" };
/** At the end, in the order given, or in the position of the run that they replace. */
const JOIN = `
  WITH given AS (SELECT * FROM ${recordset(JOINED)}),
  replaced AS (
    UPDATE ordered_runs AS held SET run_no = given.run_no, state = 'waiting', held_at = NULL FROM given
    WHERE held.environment_id = $2 AND held.run_no = given.in_place_of AND held.state = 'held' RETURNING given.run_no)
  INSERT INTO ordered_runs (environment_id, function_no, key, run_no, state)
  SELECT $2, function_no, key, run_no, 'waiting' FROM given WHERE run_no NOT IN (SELECT run_no FROM replaced) ORDER BY place`;
/** A run that was replaced leaves when none of its calls is in progress any more. */
const REPLACED = `
  INSERT INTO ordered_runs (environment_id, function_no, key, run_no, state)
  SELECT DISTINCT $2::integer, function_no, key, in_place_of, 'leaving' FROM ${recordset(JOINED)}
  WHERE EXISTS (SELECT FROM queue AS q WHERE q.environment_id = $2 AND q.run_no = in_place_of AND q.kind = 'call')
    AND NOT EXISTS (SELECT FROM ordered_runs AS o WHERE o.environment_id = $2 AND o.run_no = in_place_of)`;
const NEXT = `
  SELECT run_no FROM ordered_runs WHERE environment_id = $1 AND function_no = $2 AND key = $3
    AND NOT EXISTS (SELECT FROM ordered_runs WHERE environment_id = $1 AND function_no = $2 AND key = $3 AND state <> 'waiting')
  ORDER BY position LIMIT 1`;
const IS_WAITING = `
  SELECT EXISTS (SELECT FROM ordered_runs WHERE environment_id = $1 AND function_no = $2 AND key = $3 AND state = 'waiting') AS found`;
const BEGIN = "UPDATE ordered_runs SET state = 'running' WHERE environment_id = $1 AND run_no = ANY ($2::bigint[])";
/** $3: those that block their key, and since when. */
const END = `
  UPDATE ordered_runs SET state = CASE WHEN run_no = ANY ($3::bigint[]) THEN 'held' ELSE 'leaving' END,
    held_at = CASE WHEN run_no = ANY ($3::bigint[]) THEN $4::bigint END
  WHERE environment_id = $1 AND run_no = ANY ($2::bigint[])`;
/** Of two calls that end at the same time, the second sees that the first is gone; and so does whoever replaces or releases the run. */
const LOCK = `
  SELECT FROM ordered_runs WHERE environment_id = $1 AND run_no = ANY ($2::bigint[]) AND state IN ('leaving', 'held')
  ORDER BY run_no FOR UPDATE`;
/** A leaving run is gone once none of its calls is in progress. */
const LEAVE = `
  DELETE FROM ordered_runs AS o WHERE environment_id = $1 AND run_no = ANY ($2::bigint[]) AND state = 'leaving'
    AND NOT EXISTS (SELECT FROM queue AS q WHERE q.environment_id = o.environment_id AND q.run_no = o.run_no AND q.kind = 'call')
  RETURNING function_no, key`;
const RELEASE = `
  UPDATE ordered_runs SET state = 'leaving', held_at = NULL WHERE environment_id = $1 AND run_no = $2 AND state = 'held' RETURNING run_no`;
/** Of two that release it at the same time, the second finds nothing. */
const HELD_RUN = "SELECT run_no FROM ordered_runs WHERE environment_id = $1 AND position = $2 AND state = 'held' FOR UPDATE";
const HOLDS = `
  SELECT position, held.function_no, order_key, held_at, run_id,
    (SELECT count(*)::integer FROM ordered_runs AS other WHERE other.environment_id = $1 AND other.function_no = held.function_no
       AND other.key = held.key AND other.state = 'waiting') AS waiting
  FROM ordered_runs AS held LEFT JOIN runs USING (environment_id, run_no)
  WHERE state = 'held' AND environment_id = $1 AND position > $2 AND ($3::integer[] IS NULL OR held.function_no = ANY ($3))
  ORDER BY position LIMIT $4`;

export function joinOrder(writes: PendingWrites): void {
  const joined = writes.runsAdded.flatMap(({ runNo, run: { functionNo, order, inPlaceOf } }, place) =>
    order === undefined ? [] : [{ place, function_no: functionNo, key: order.key, run_no: runNo, in_place_of: inPlaceOf ?? null }],
  );
  if (joined.length > 0) writes.send(JOIN, jsonRows(joined), writes.environmentId);
  const replacing = joined.filter(({ in_place_of }) => in_place_of !== null);
  if (replacing.length > 0) writes.send(REPLACED, jsonRows(replacing), writes.environmentId);
}

/** Called after the entries of these runs have been removed. */
export async function endOrder(writes: PendingWrites): Promise<void> {
  const { ordersEnded, environmentId } = writes;
  if (ordersEnded.length === 0) return;
  const runNos = ordersEnded.map(({ runNo }) => runNo);
  const held = ordersEnded.filter(({ heldAt }) => heldAt !== null);
  writes.send(
    END,
    environmentId,
    runNos,
    held.map(({ runNo }) => runNo),
    held[0]?.heldAt ?? null,
  );
  noteFreed(writes.notices, await writes.rows<FreedRow>(LEAVE, environmentId, runNos));
}

/** The next run in order; null if none waits, or another has to leave first. */
export async function nextInOrder(client: PoolClient, key: OrderKey): Promise<RunNo | null> {
  const { rows } = await client.query<{ run_no: RunNo }>(NEXT, columnsOf(key));
  return rows[0]?.run_no ?? null;
}

export async function isWaitingInOrder(client: PoolClient, key: OrderKey): Promise<boolean> {
  const { rows } = await client.query<{ found: boolean }>(IS_WAITING, columnsOf(key));
  return rows[0]?.found ?? false;
}

export async function beginInOrder(client: PoolClient, environmentId: EnvironmentId, runNos: readonly RunNo[]): Promise<void> {
  await client.query(BEGIN, [environmentId, runNos]);
}

/** Calls of these runs have ended. */
export async function leaveOrder(
  client: PoolClient,
  notices: Notices,
  environmentId: EnvironmentId,
  runNos: readonly (RunNo | null)[],
): Promise<void> {
  const values = [environmentId, runNos.filter((runNo) => runNo !== null)];
  await client.query(LOCK, values);
  noteFreed(notices, (await client.query<FreedRow>(LEAVE, values)).rows);
}

export interface OrderKey {
  environmentId: EnvironmentId;
  functionNo: FunctionNo;
  orderKey: string;
}

function columnsOf({ environmentId, functionNo, orderKey }: OrderKey): unknown[] {
  return [environmentId, functionNo, orderKey];
}

interface FreedRow {
  function_no: FunctionNo;
  key: string;
}

function noteFreed(notices: Notices, rows: readonly FreedRow[]): void {
  for (const { function_no, key } of rows) notices.limitIds.add(orderId(function_no, key));
}

export function orderStore({ database, notify }: { database: Database; notify(notices: Notices): void }): OrderStore {
  return {
    async orderHoldList({ environmentId, functionNos, limit, after = 0 }) {
      const rows = await database.read<HoldRow>(HOLDS, [environmentId, after, functionNos ?? null, limit + 1]);
      const page = rows.slice(0, limit);
      return { holds: page.map(toHold), next: rows.length > limit ? (page.at(-1)?.position ?? null) : null };
    },
    async orderRelease({ environmentId, runNo }) {
      const notices = noNotices();
      const isReleased = await database.transaction((client) => release(client, notices, environmentId, runNo));
      notify(notices);
      return isReleased;
    },
    async orderHoldRelease({ environmentId, position }) {
      const notices = noNotices();
      const hold = await database.transaction(async (client) => {
        const held = await client.query<{ run_no: RunNo }>(HELD_RUN, [environmentId, position]);
        const runNo = held.rows[0]?.run_no;
        if (runNo === undefined) return null;
        const { rows } = await client.query<HoldRow>(HOLDS, [environmentId, position - 1, null, 1]);
        await release(client, notices, environmentId, runNo);
        return rows[0] ? toHold(rows[0]) : null;
      });
      notify(notices);
      return hold;
    },
  };
}

async function release(client: PoolClient, notices: Notices, environmentId: EnvironmentId, runNo: RunNo): Promise<boolean> {
  const { rows } = await client.query(RELEASE, [environmentId, runNo]);
  await leaveOrder(client, notices, environmentId, [runNo]);
  return rows.length > 0;
}
