/** Who may create, archive and drop partitions: one node at a time, and only while nobody uses their tables. */

import { setTimeout as pause } from "node:timers/promises";
import type { PoolClient } from "pg";
import { isLockTimeout } from "../failures.ts";

export const MAINTAIN_LOCK = 7_266;
/**
 * A transaction that wants to lock a table exclusively waits for all that use it, and blocks all others meanwhile: it soon gives up and
 * is retried. It locks several tables, which others use in any order: it must end before PostgreSQL's deadlock detection, which runs
 * after a second and might abort the wrong transaction.
 */
export const LOCK_TIMEOUT_MS = 100;
export const LOCK_PAUSE_MS = 200;
const LOCK_TRIES = 10;

export type Outcome = "done" | "nothing to do";

/** The tables are in use: the transaction is rolled back and retried. */
class TablesInUse extends Error {}

/** Retries while tables are in use, for a limited time. Returns whether anything was done. */
export async function whenFree(work: () => Promise<Outcome>): Promise<boolean> {
  for (let tries = 0; tries < LOCK_TRIES; tries++) {
    try {
      return (await work()) === "done";
    } catch (error) {
      if (!(error instanceof TablesInUse)) throw error;
    }
    await pause(LOCK_PAUSE_MS);
  }
  return false;
}

export async function isMine(client: PoolClient): Promise<boolean> {
  const { rows } = await client.query<{ mine: boolean }>("SELECT pg_try_advisory_xact_lock($1) AS mine", [MAINTAIN_LOCK]);
  return rows[0]?.mine === true;
}

/** Whether rows of an environment are copied from here, or to here: a partition that is dropped takes them away unnoticed. */
export async function isMoving(client: PoolClient): Promise<boolean> {
  return ((await client.query("SELECT FROM moving_environments WHERE role IN ('leaving', 'arriving') LIMIT 1")).rowCount ?? 0) > 0;
}

/** Throws TablesInUse if another transaction held one of them for too long. */
export async function lockTables(client: PoolClient, tables: readonly string[], mode = "ACCESS EXCLUSIVE"): Promise<void> {
  await client.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`);
  try {
    for (const table of tables) await client.query(`LOCK TABLE ONLY ${table} IN ${mode} MODE`);
  } catch (error) {
    throw isLockTimeout(error) ? new TablesInUse("tables are in use", { cause: error }) : error;
  }
}
