/**
 * Sequences that count for several databases: each in steps of DATABASES_MAX, with the number of its database as the remainder. A
 * sequence only ever moves forward, so no number that it gave comes again.
 */

import { setTimeout as pause } from "node:timers/promises";
import type { PoolClient } from "pg";
import { DATABASES_MAX, StoreUnavailable } from "../../contract/index.ts";
import type { Database } from "../../postgres/database.ts";
import { isLockTimeout } from "../../postgres/failures.ts";

/** By the name of the sequence. */
export type LastNumbers = ReadonlyMap<string, number>;

interface SequenceRow {
  name: string;
  last: number | null;
  step: number;
}

const SEQUENCES = `
  SELECT sequencename AS name, last_value AS last, increment_by AS step FROM pg_sequences WHERE schemaname = current_schema() ORDER BY 1`;
/**
 * Whoever takes a number holds its sequence until the end of the transaction. Changing one waits for them, and others wait behind it: it
 * soon gives up and is repeated. Each is changed in a transaction of its own, which waits for nothing while it holds one.
 */
const LOCK_TIMEOUT_MS = 200;
const TRIES = 100;
const PAUSE_MS = 50;

export async function lastNumbers(client: PoolClient): Promise<LastNumbers> {
  const { rows } = await client.query<SequenceRow>(SEQUENCES);
  return new Map(rows.map(({ name, last }) => [name, last ?? 0]));
}

/** Of a database that nobody uses yet, in the caller's transaction. `above`: the numbers that are taken elsewhere. */
export async function numberSequences(client: PoolClient, no: number, above: LastNumbers): Promise<void> {
  const { rows } = await client.query<SequenceRow>(SEQUENCES);
  for (const { name } of rows) await numberSequence(client, no, { name, above: above.get(name) ?? 0 });
}

/** Of a database whose nodes go on taking numbers. Sequences that are numbered already stay as they are. */
export async function numberWhileInUse(database: Database, no: number): Promise<void> {
  const rows = await database.query<SequenceRow>(SEQUENCES);
  for (const { name } of rows.filter(({ step }) => step !== DATABASES_MAX)) {
    await whenFree(name, () => database.transaction((client) => numberIfFree(client, no, name)));
  }
}

/** Those that a migration has just made, in its transaction: nobody has taken a number yet. Nothing to do without several databases. */
export async function numberNewSequences(client: PoolClient): Promise<void> {
  const memberships = await client.query<{ database_no: number }>("SELECT database_no FROM installation");
  const [membership] = memberships.rows;
  if (!membership) return;
  const { rows } = await client.query<SequenceRow>(SEQUENCES);
  for (const { name } of rows.filter(({ step }) => step !== DATABASES_MAX))
    await numberSequence(client, membership.database_no, { name, above: 0 });
}

/** Whether it was free. A transaction that gives up is no fault of PostgreSQL: it ends in order. */
async function numberIfFree(client: PoolClient, no: number, name: string): Promise<boolean> {
  await client.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}; SAVEPOINT before`);
  try {
    await numberSequence(client, no, { name, above: 0 });
    return true;
  } catch (error) {
    if (!isLockTimeout(error)) throw error;
    await client.query("ROLLBACK TO SAVEPOINT before");
    return false;
  }
}

/** The sequence is locked by its change, so nobody takes a number between the two statements. */
async function numberSequence(client: PoolClient, no: number, { name, above }: { name: string; above: number }): Promise<void> {
  await client.query(`ALTER SEQUENCE ${name} INCREMENT BY ${DATABASES_MAX}`);
  await client.query(
    `SELECT setval('${name}', taken.no + (($2::bigint - taken.no) % $1::bigint + $1::bigint) % $1::bigint)
     FROM (SELECT greatest(last_value, $3::bigint) AS no FROM ${name}) AS taken`,
    [DATABASES_MAX, no, above],
  );
}

async function whenFree(name: string, work: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < TRIES; tries++) {
    if (await work()) return;
    await pause(PAUSE_MS);
  }
  throw new StoreUnavailable(`the sequence ${name} is in use all the time`);
}
