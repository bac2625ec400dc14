/**
 * The database that an environment leaves. Changes of its rows are recorded from the begin on; before the switch it is held: writes are
 * refused, at most until the hold expires. A sealed environment is refused until the directory says where it is.
 */

import { setTimeout as pause } from "node:timers/promises";
import type { PoolClient } from "pg";
import type { Database } from "../../postgres/database.ts";
import { isLockTimeout } from "../../postgres/failures.ts";
import { LOCK_PAUSE_MS, LOCK_TIMEOUT_MS, MAINTAIN_LOCK } from "../../postgres/schema/partition-locks.ts";
import { FOREVER, MoveLost, type MoveSide, NOW } from "./move-parts.ts";
import { type MovedTable, movedTables } from "./moved-tables.ts";

const TRIGGER = "note_moving_row";
/** The class of the lock that note_moving_row holds shared. */
const MOVE_LOCK = 7_268;
/** A move cannot be left to the next sweep, as partitions can: it tries longer. */
const LOCK_TRIES = 50;
/** How long a hold waits for transactions in progress. */
const QUIET_TIMEOUT_MS = 1_500;

const BEGIN = `
  INSERT INTO moving_environments (environment_id, job_id, role, epoch) VALUES ($1, $2, 'leaving', $3)
  ON CONFLICT (environment_id) DO UPDATE
  SET job_id = $2, role = 'leaving', epoch = $3, is_ready = false, fenced_until = 0
  WHERE moving_environments.job_id <> $2`;
const ADOPT =
  "UPDATE moving_environments SET epoch = $3 WHERE environment_id = $1 AND job_id = $2 AND epoch <= $3 RETURNING role, is_ready, fenced_until";
const OWN = "environment_id = $1 AND job_id = $2 AND epoch = $3";

export interface SourceState {
  role: string;
  is_ready: boolean;
  fenced_until: number;
}

/** From here on, what a node does that worked on the move before has no effect. Null: the move has not begun here. */
export async function adoptSide({ database, environmentId, jobId, epoch }: MoveSide): Promise<SourceState | null> {
  const [row] = await database.query<SourceState>(ADOPT, [environmentId, jobId, epoch]);
  if (row) return row;
  const [other] = await database.query("SELECT FROM moving_environments WHERE environment_id = $1 AND job_id = $2", [environmentId, jobId]);
  if (other) throw new MoveLost("another node works on the move");
  return null;
}

/** When it returns, every later change of the environment is recorded. Idempotent. */
export async function beginSource(side: MoveSide): Promise<void> {
  const { database, environmentId, jobId, epoch } = side;
  await database.transaction(async (client) => {
    // No partition of the environment's rows is dropped from here on: that would be no recorded change.
    await client.query("SELECT pg_advisory_xact_lock($1)", [MAINTAIN_LOCK]);
    await client.query(BEGIN, [environmentId, jobId, epoch]);
  }, "maintenance");
  for (const table of await movedTables(database)) await createTrigger(database, table);
  for (let tries = 1; !(await isQuiet(side)); tries++) {
    if (tries >= LOCK_TRIES) throw new Error("transactions that write the environment did not end");
    await pause(LOCK_PAUSE_MS);
  }
  await own(side, "is_ready = true");
}

/** Also where there is one: it waits for whoever is about to drop it. */
async function createTrigger(database: Database, { name, key }: MovedTable): Promise<void> {
  const args = [name, ...key.map((column) => column.name)].map((text) => `'${text}'`).join(", ");
  const trigger = `CREATE OR REPLACE TRIGGER ${TRIGGER} AFTER INSERT OR UPDATE OR DELETE ON ${name}`;
  await whenFree(database, (client) => client.query(`${trigger} FOR EACH ROW EXECUTE FUNCTION note_moving_row(${args})`));
}

async function whenFree(database: Database, work: (client: PoolClient) => Promise<unknown>): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await database.transaction(async (client) => {
        await client.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`);
        await work(client);
      }, "maintenance");
    } catch (error) {
      if (tries >= LOCK_TRIES || !isLockTimeout((error as Error).cause)) throw error;
      await pause(LOCK_PAUSE_MS);
    }
  }
}

/** Waits for every transaction that wrote the environment before: false if one takes too long. */
async function isQuiet({ database, environmentId }: MoveSide): Promise<boolean> {
  try {
    await database.transaction(async (client) => {
      await client.query(`SET LOCAL lock_timeout = ${QUIET_TIMEOUT_MS}`);
      await client.query("SELECT pg_advisory_xact_lock($1, $2)", [MOVE_LOCK, environmentId]);
    });
    return true;
  } catch (error) {
    if (isLockTimeout((error as Error).cause)) return false;
    throw error;
  }
}

/** Refuses writes for a limited time. When it returns true, nothing more is written until then. */
export async function holdSource(side: MoveSide, holdMs: number): Promise<boolean> {
  const { database, environmentId, jobId } = side;
  await own(side, `fenced_until = greatest(fenced_until, ${NOW} + ${holdMs})`);
  // After an earlier attempt, the job's row at the target may say that the move is completed: it is copied again.
  const text = "INSERT INTO moved_changes (environment_id, table_name, key) VALUES ($1, 'jobs', jsonb_build_array($2::text))";
  await database.query(text, [environmentId, jobId]);
  return isQuiet(side);
}

/** False: the hold has expired, or will too soon. */
export async function sealSource(side: MoveSide, marginMs: number): Promise<boolean> {
  const { database, environmentId, jobId, epoch } = side;
  const text = `UPDATE moving_environments SET fenced_until = ${FOREVER} WHERE ${OWN} AND fenced_until > ${NOW} + ${marginMs} RETURNING 1`;
  return (await database.query(text, [environmentId, jobId, epoch])).length > 0;
}

/** Writes go on here. */
export async function releaseSource(side: MoveSide): Promise<void> {
  await own(side, "fenced_until = 0");
}

/** The environment is elsewhere: its rows here are only to be removed. */
export async function noteLeft(side: MoveSide): Promise<void> {
  await own(side, `role = 'left', fenced_until = ${FOREVER}`);
  await side.database.query("DELETE FROM moved_changes WHERE environment_id = $1", [side.environmentId], "maintenance");
}

/** The end of a move here, whatever became of it. What is known of an earlier arrival stays with an environment that stays. Idempotent. */
export async function endSource({ database, environmentId, jobId }: MoveSide): Promise<void> {
  const own = "WHERE environment_id = $1 AND job_id = $2";
  await database.query(`UPDATE moving_environments SET role = 'arrived', fenced_until = 0 ${own} AND role = 'leaving'`, [
    environmentId,
    jobId,
  ]);
  await database.query(`DELETE FROM moving_environments ${own} AND role = 'left'`, [environmentId, jobId]);
  await database.query("DELETE FROM moved_changes WHERE environment_id = $1", [environmentId], "maintenance");
  await dropTriggers(database);
}

/** Once no environment leaves, or has left and may be written by a node that does not know it. */
async function dropTriggers(database: Database): Promise<void> {
  for (const { name } of await movedTables(database)) {
    await whenFree(database, async (client) => {
      await client.query(`LOCK TABLE ONLY ${name} IN ACCESS EXCLUSIVE MODE`);
      // With the lock held: whoever records a move after this creates the trigger after this.
      const { rowCount } = await client.query("SELECT FROM moving_environments WHERE role IN ('leaving', 'left') LIMIT 1");
      if (rowCount === 0) await client.query(`DROP TRIGGER IF EXISTS ${TRIGGER} ON ${name}`);
    });
  }
}

async function own({ database, environmentId, jobId, epoch }: MoveSide, changes: string): Promise<void> {
  const rows = await database.query(`UPDATE moving_environments SET ${changes} WHERE ${OWN} RETURNING 1`, [environmentId, jobId, epoch]);
  if (rows.length === 0) throw new MoveLost("another node works on the move");
}
