/** The database at which an environment arrives. No loop takes its rows before it has arrived, and nobody writes them but the move. */

import type { EnvironmentId } from "@inlet/protocol";
import type { PoolClient } from "pg";
import { countEvents } from "../../event-types/postgres.ts";
import type { Database } from "../../postgres/database.ts";
import { CHANNEL } from "../../postgres/nodes/announce.ts";
import { MAINTAIN_LOCK } from "../../postgres/schema/partition-locks.ts";
import { type Batch, internRows, readBatch, readKeys, writeRows } from "./copy-rows.ts";
import { FOREVER, MoveLost, type MoveSide, NOW } from "./move-parts.ts";
import type { MovedTable } from "./moved-tables.ts";

/** Changes that are read at a time. Many concern the same few rows, which are copied once. */
export const CHANGES_MAX = 5_000;
/** Changed rows of a table that are copied at a time. */
const KEYS_MAX = 500;

const BEGIN = `
  INSERT INTO moving_environments (environment_id, job_id, role, epoch, fenced_until) VALUES ($1, $2, 'arriving', $3, ${FOREVER})
  ON CONFLICT (environment_id) DO UPDATE
  SET job_id = $2, role = 'arriving', epoch = $3, is_ready = false, fenced_until = ${FOREVER}, counted_from = 0, counted_until = 0
  WHERE moving_environments.job_id <> $2`;
/** Whoever writes rows holds this lock until its commit: no other node takes over the move between its check and its writes. */
const CHECK = "SELECT FROM moving_environments WHERE environment_id = $1 AND job_id = $2 AND epoch = $3 AND role = 'arriving' FOR UPDATE";

export async function beginTarget({ database, environmentId, jobId, epoch }: MoveSide): Promise<void> {
  await database.transaction(async (client) => {
    // No partition is dropped from here on: it would take rows that were copied.
    await client.query("SELECT pg_advisory_xact_lock($1)", [MAINTAIN_LOCK]);
    await client.query(BEGIN, [environmentId, jobId, epoch]);
    await client.query("DELETE FROM moved_tables WHERE environment_id = $1", [environmentId]);
  }, "maintenance");
}

/** Rows that refer to the environment need its row. The directory's own is the truth. */
export async function copyEnvironment(directory: Database, target: Database, environmentId: EnvironmentId): Promise<void> {
  const [row] = await directory.query<{ json: string }>(
    "SELECT to_jsonb(e)::text::varchar AS json FROM environments AS e WHERE environment_id = $1",
    [environmentId],
  );
  const json = { toPostgres: () => row?.json };
  await target.query(
    `INSERT INTO environments SELECT * FROM jsonb_populate_record(NULL::environments, $1::jsonb)
     ON CONFLICT (environment_id) DO UPDATE SET name = excluded.name, kind = excluded.kind, archived_at = excluded.archived_at`,
    [json],
  );
}

export async function noteReady(side: MoveSide): Promise<void> {
  await writing(side, (client) =>
    client.query("UPDATE moving_environments SET is_ready = true WHERE environment_id = $1", [side.environmentId]),
  );
}

interface TableProgress {
  reached: string | null;
  rows: number;
  is_done: boolean;
}

export async function readProgress({ database, environmentId }: MoveSide): Promise<Map<string, TableProgress>> {
  const rows = await database.query<TableProgress & { table_name: string }>(
    "SELECT table_name, reached::text::varchar AS reached, rows, is_done FROM moved_tables WHERE environment_id = $1",
    [environmentId],
  );
  return new Map(rows.map((row) => [row.table_name, row]));
}

/** The next rows of a table. */
export async function copyBatch(source: Database, target: MoveSide, table: MovedTable, reached: string | null): Promise<Batch> {
  const { database, environmentId } = target;
  const batch = await readBatch(source, table, environmentId, reached);
  await internRows(database, table, batch.rows);
  await writing(target, async (client) => {
    await writeRows(client, table, environmentId, batch);
    await client.query(
      `INSERT INTO moved_tables AS m (environment_id, table_name, reached, rows, is_done) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (environment_id, table_name)
       DO UPDATE SET reached = coalesce(excluded.reached, m.reached), rows = m.rows + excluded.rows, is_done = excluded.is_done`,
      [environmentId, table.name, batch.reached === null ? null : { toPostgres: () => batch.reached }, batch.rows.length, batch.isLast],
    );
  });
  return batch;
}

/** Has a table copied once more, from its first row. */
export async function copyAgain(target: MoveSide, table: MovedTable): Promise<void> {
  const text = "DELETE FROM moved_tables WHERE environment_id = $1 AND table_name = $2";
  await writing(target, (client) => client.query(text, [target.environmentId, table.name]));
}

interface ChangeRow {
  change_no: number;
  table_name: string;
  key: string;
}

/** Copies rows that changed. Returns how many changes were examined: fewer than CHANGES_MAX, there were no more. */
export async function copyChanges(source: MoveSide, target: MoveSide, tables: readonly MovedTable[]): Promise<number> {
  const { environmentId } = source;
  // In this order, a row that others refer to comes before them.
  const changes = await source.database.query<ChangeRow>(
    `SELECT change_no, table_name, key::text::varchar AS key FROM moved_changes WHERE environment_id = $1
     ORDER BY change_no LIMIT ${CHANGES_MAX}`,
    [environmentId],
  );
  const changed = tables.map((table) => ({ table, keys: keysOf(table, changes) }));
  for (let left: readonly ChangedKeys[] = changed; left.some(({ keys }) => keys.length > 0); )
    left = await copyKeys(source.database, target, left);
  // A change of a row after it was read is another one.
  const text = "DELETE FROM moved_changes WHERE environment_id = $1 AND change_no = ANY ($2::bigint[])";
  if (changes.length > 0) await source.database.query(text, [environmentId, changes.map(({ change_no }) => change_no)]);
  return changes.length;
}

interface ChangedKeys {
  table: MovedTable;
  keys: readonly string[];
}

function keysOf({ name }: MovedTable, changes: readonly ChangeRow[]): string[] {
  return [...new Set(changes.flatMap(({ table_name, key }) => (table_name === name ? [key] : [])))];
}

/** Some rows of every table, read and written in a few round trips, so that the copy catches up on a busy machine too. Returns what is left. */
async function copyKeys(source: Database, target: MoveSide, changed: readonly ChangedKeys[]): Promise<ChangedKeys[]> {
  const { database, environmentId } = target;
  const some = changed.filter(({ keys }) => keys.length > 0);
  const read = (client: PoolClient) =>
    Promise.all(some.map(({ table, keys }) => readKeys(client, table, environmentId, keys.slice(0, KEYS_MAX))));
  const found = (await source.transaction(read, "maintenance")).map((rows, n) => ({ ...(some[n] as ChangedKeys), found: rows }));
  await Promise.all(found.map(({ table, found: { rows } }) => internRows(database, table, rows)));
  await writing(target, (client) => Promise.all(found.map((one) => writeRows(client, one.table, environmentId, one.found))));
  return found.map(({ table, keys, found: { examined } }) => ({ table, keys: keys.slice(examined) }));
}

/** What becomes visible with the switch: the job has completed. Events that the source did not count are noted. */
export async function prepareArrival(target: MoveSide, counted: { from: number; until: number }): Promise<void> {
  const { environmentId, jobId } = target;
  await writing(target, async (client) => {
    await client.query("UPDATE moving_environments SET counted_from = $2, counted_until = $3 WHERE environment_id = $1", [
      environmentId,
      counted.from,
      counted.until,
    ]);
    await client.query(
      `UPDATE jobs SET status = 'completed', done = total, ended_at = ${NOW} WHERE environment_id = $1 AND job_id = $2 AND ended_at IS NULL`,
      [environmentId, jobId],
    );
  });
}

/** The environment is here: its rows belong to the loops of this database, and every node looks for them. Idempotent. */
export async function arrive(target: MoveSide): Promise<void> {
  const { database, environmentId, jobId } = target;
  await database.transaction(async (client) => {
    const { rows } = await client.query<{ counted_from: number; counted_until: number }>(
      "UPDATE moving_environments SET role = 'arrived', fenced_until = 0 WHERE environment_id = $1 AND job_id = $2 AND role = 'arriving' RETURNING *",
      [environmentId, jobId],
    );
    if (rows[0]) await countEvents(client, rows[0].counted_from, rows[0].counted_until, environmentId);
    await client.query("DELETE FROM moved_tables WHERE environment_id = $1", [environmentId]);
    await client.query("SELECT pg_notify($1, $2)", [CHANNEL, 'moves {"poll":true}']);
  }, "maintenance");
}

/** The end of a move that did not switch. Idempotent. */
export async function endTarget({ database, environmentId, jobId }: MoveSide): Promise<void> {
  await database.transaction(async (client) => {
    await client.query("DELETE FROM moving_environments WHERE environment_id = $1 AND job_id = $2", [environmentId, jobId]);
    await client.query("DELETE FROM moved_tables WHERE environment_id = $1", [environmentId]);
  });
}

/** A transaction of the node that works on the move. */
export async function writing(side: MoveSide, work: (client: PoolClient) => Promise<unknown>): Promise<void> {
  const { database, environmentId, jobId, epoch } = side;
  await database.transaction(async (client) => {
    const { rowCount } = await client.query(CHECK, [environmentId, jobId, epoch]);
    if (rowCount === 0) throw new MoveLost("another node works on the move");
    await work(client);
  }, "maintenance");
}
