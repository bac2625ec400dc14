/**
 * Calls of functions that are paused, or whose environment is archived, in PostgreSQL: in the lane of timers, never due. And calls of
 * functions that were limited meanwhile.
 */

import type { FunctionNo, RunNo } from "@inlet/protocol";
import type { PoolClient } from "pg";
import { HELD_UNTIL, type LeasedEntry, type QueueStore, TIMER_LANE } from "../contract/index.ts";
import { freeSlots, lockLimits, takeSlots } from "../limits/postgres.ts";
import type { Database } from "../postgres/database.ts";
import { notFenced } from "../postgres/fenced.ts";
import { type Notices, noNotices, noteLane, type PendingWrites } from "../postgres/pending-writes.ts";
import { retryCollisions } from "../postgres/retry-collisions.ts";
import { unfinished } from "../runs/postgres/run-state.ts";
import { heldUntil } from "./policy.ts";

/** The same for entries that are written as held: all rows are returned, because only these are locked. */
const FUNCTIONS = `
  SELECT function_no, coalesce(f.paused_at, e.archived_at) AS paused_at FROM functions AS f JOIN environments AS e USING (environment_id)
  WHERE environment_id = $1 AND function_no = ANY ($2::integer[]) ORDER BY function_no FOR SHARE`;

export interface HeldCallParts {
  database: Database;
  notify(notices: Notices): void;
}

/** A transaction that resumes the function, or unarchives its environment, waits for this one, and finds the entry. */
const PAUSED = `
  SELECT coalesce(f.paused_at, e.archived_at) AS paused_at FROM functions AS f JOIN environments AS e USING (environment_id)
  WHERE environment_id = $1 AND function_no = $2 FOR SHARE`;
const HOLD = `
  UPDATE queue SET lane = '${TIMER_LANE}', rank = $4, due_at = $4, lease_id = NULL, leased_by = NULL, claims = greatest(claims - 1, 0)
  WHERE environment_id = $1 AND entry_no = $2 AND lease_id = $3`;
const MOVE = `
  UPDATE queue SET lane = $4, home_lane = $4, rank = home_rank, due_at = $5, lease_id = NULL, leased_by = NULL, claims = greatest(claims - 1, 0)
  WHERE environment_id = $1 AND entry_no = $2 AND lease_id = $3`;
/** Its claim said that it runs. */
const WAIT_AGAIN = `
  UPDATE runs SET status = 'queued' WHERE environment_id = $1 AND run_no = ANY ($2::bigint[]) AND status = 'running' AND started_at IS NULL`;
/** Whoever changes a run locks it before its entries. */
const LOCK_RUN = "SELECT ended_at FROM runs WHERE environment_id = $1 AND run_no = ANY ($2::bigint[]) FOR UPDATE";
const MOVE_RUN = "UPDATE runs SET lane = $3 WHERE environment_id = $1 AND run_no = ANY ($2::bigint[])";
/** An entry that another transaction removes is skipped: its call is over. Nobody is waited for while entries are locked. */
const HOLDER = `
  SELECT run_no FROM queue WHERE environment_id = $1 AND entry_no = $2 AND lease_id = $3 AND run_no IS NOT NULL
  FOR KEY SHARE SKIP LOCKED`;
const UNHOLD = `
  WITH held AS MATERIALIZED (
    SELECT environment_id, entry_no FROM queue AS q
    WHERE due_at = ${HELD_UNTIL}
      AND ${notFenced("environment_id")}
      AND NOT EXISTS (
        SELECT FROM functions AS f JOIN apps AS a USING (environment_id, app_no)
        WHERE f.environment_id = q.environment_id AND f.function_no = q.function_no AND f.paused_at IS NOT NULL AND a.removed_at IS NULL)
      AND NOT EXISTS (SELECT FROM environments AS e WHERE e.environment_id = q.environment_id AND e.archived_at IS NOT NULL)
    LIMIT $2 FOR UPDATE SKIP LOCKED)
  UPDATE queue SET rank = $1, due_at = $1 WHERE (environment_id, entry_no) IN (SELECT * FROM held) RETURNING 1`;
const COUNTS = `
  SELECT function_no, count(DISTINCT run_no) AS runs FROM queue WHERE environment_id = $1 AND due_at = ${HELD_UNTIL} GROUP BY function_no`;
const RUNS = `
  SELECT DISTINCT run_no FROM queue
  WHERE environment_id = $1 AND function_no = $2 AND due_at = ${HELD_UNTIL} AND run_no IS NOT NULL ORDER BY run_no LIMIT $3`;

/** Which of these functions are paused, or in an archived environment. They are not resumed before this transaction ends. */
export async function pausedFunctions(
  { read, environmentId }: Pick<PendingWrites, "read" | "environmentId">,
  functionNos: readonly FunctionNo[],
) {
  const rows = await read<{ function_no: FunctionNo; paused_at: number | null }>(FUNCTIONS, [environmentId, functionNos]);
  return new Set(rows.flatMap(({ function_no, paused_at }) => (paused_at === null ? [] : [function_no])));
}

async function freeSlotsOfCall(
  client: PoolClient,
  notices: Notices,
  { environmentId, no }: Pick<LeasedEntry, "environmentId" | "no">,
  runNo: RunNo,
): Promise<void> {
  const read = async (text: string, values: readonly unknown[]) => (await client.query(text, [...values])).rows;
  await freeSlots({ read: read as never, environmentId, notices }, { entries: [{ runNo, entryNo: no }] });
}

export function heldCallStore({
  database,
  notify,
}: HeldCallParts): Pick<QueueStore, "queueHold" | "queueMove" | "queueTakeSlots" | "queueUnhold" | "queueHeld" | "queueHeldRuns"> {
  return {
    async queueHold({ environmentId, no, leaseId, runNo, functionNo, now }) {
      const hold = async (client: PoolClient) => {
        const notices = noNotices();
        const { rows: runs } = await client.query<{ ended_at: number | null }>(LOCK_RUN, [environmentId, [runNo]]);
        const { rows: paused } = await client.query<{ paused_at: number | null }>(PAUSED, [environmentId, functionNo]);
        const isPaused = (paused[0]?.paused_at ?? null) !== null;
        const dueAt = heldUntil({ isPaused, hasEnded: unfinished(runs).length === 0 }, now);
        const { rowCount } = await client.query(HOLD, [environmentId, no, leaseId, dueAt]);
        if (rowCount === 0) return notices;
        await client.query(WAIT_AGAIN, [environmentId, [runNo]]);
        await freeSlotsOfCall(client, notices, { environmentId, no }, runNo);
        noteLane(notices, TIMER_LANE, dueAt);
        return notices;
      };
      notify(await retryCollisions(() => database.transaction(hold)));
    },
    async queueMove({ environmentId, no, leaseId, runNo, lane, now }) {
      const move = async (client: PoolClient) => {
        const notices = noNotices();
        await client.query(LOCK_RUN, [environmentId, [runNo]]);
        const { rowCount } = await client.query(MOVE, [environmentId, no, leaseId, lane, now]);
        if (rowCount === 0) return notices;
        await client.query(MOVE_RUN, [environmentId, [runNo], lane]);
        await client.query(WAIT_AGAIN, [environmentId, [runNo]]);
        await freeSlotsOfCall(client, notices, { environmentId, no }, runNo);
        noteLane(notices, lane, now);
        return notices;
      };
      notify(await retryCollisions(() => database.transaction(move)));
    },
    async queueTakeSlots({ calls }) {
      const take = async (client: PoolClient) => {
        await lockLimits(
          client,
          calls.flatMap(({ limits }) => limits),
        );
        for (const { environmentId, no, leaseId, limits } of calls) {
          const { rows } = await client.query<{ run_no: RunNo }>(HOLDER, [environmentId, no, leaseId]);
          const holders = rows.map(({ run_no }) => ({ environmentId, runNo: run_no, entryNo: no }));
          await takeSlots(client, limits, holders);
        }
      };
      await retryCollisions(() => database.transaction(take));
    },
    async queueUnhold({ now, limit }) {
      const rows = await database.query(UNHOLD, [now, limit]);
      const notices = noNotices();
      noteLane(notices, TIMER_LANE, now);
      if (rows.length > 0) notify(notices);
      return rows.length;
    },
    async queueHeld({ environmentId }) {
      const rows = await database.query<{ function_no: FunctionNo; runs: number }>(COUNTS, [environmentId]);
      return rows.map(({ function_no, runs }) => ({ functionNo: function_no, runs }));
    },
    async queueHeldRuns({ environmentId, functionNo, limit }) {
      return (await database.query<{ run_no: RunNo }>(RUNS, [environmentId, functionNo, limit])).map(({ run_no }) => run_no);
    },
  };
}
