/** Drops partitions of which no row is needed. */

import { dayAt } from "../../runs/postgres/run-number.ts";
import type { Database } from "../database.ts";
import { isUnchanged, type OldPartition } from "./archive-partition.ts";
import { isMine, isMoving, lockTables, type Outcome, whenFree } from "./partition-locks.ts";
import { type PartitionKind, type PartitionRow, partitionName, TABLES } from "./partition-tables.ts";

/** By how much the clocks of nodes may differ, and a transaction may be longer than its rows are old. */
const LOOK_BACK_MS = 60_000;

export async function dropOld(database: Database, kind: PartitionKind, until: number): Promise<void> {
  for await (const old of unneeded(database, kind, until)) await whenFree(() => dropOne(database, kind, old));
}

/** A partition of which nothing was needed at a time. */
export interface Unneeded {
  fromDay: number;
  at: number;
}

/** Old partitions of which nothing is needed. Checked without a lock; what may change until they are dropped is checked again under one. */
export async function* unneeded(database: Database, kind: PartitionKind, until: number): AsyncGenerator<Unneeded> {
  const old = await database.read<PartitionRow>(
    "SELECT from_day, to_day FROM time_partitions WHERE kind = $1 AND to_day <= $2 ORDER BY from_day",
    [kind, dayAt(until)],
  );
  for (const { from_day } of old) {
    const found = await checkUnneeded(database, kind, from_day, until);
    if (found) yield found;
  }
}

/** Null: something of it is needed. */
export async function checkUnneeded(database: Database, kind: PartitionKind, fromDay: number, until: number): Promise<Unneeded | null> {
  const at = database.now();
  const [row] = await database.read<{ stays: boolean }>(STAYS[kind](partitionName(TABLES[kind][0] as string, fromDay)), [until]);
  return row?.stays === true ? null : { fromDay, at };
}

/** What was archived of it must be what is in it. */
interface Archived {
  partition: OldPartition;
  attempt: string;
}

/** `old`: as it was found. Rows may have become needed since. */
export function dropOne(database: Database, kind: PartitionKind, old: Unneeded, archived?: Archived): Promise<Outcome> {
  const { fromDay, at } = old;
  const tables = TABLES[kind].map((table) => partitionName(table, fromDay));
  return database.transaction(async (client) => {
    if (!(await isMine(client)) || (await isMoving(client))) return "nothing to do";
    await lockTables(client, TABLES[kind]);
    await lockTables(client, tables);
    if (archived && !(await isUnchanged(client, archived.partition, archived.attempt))) return "nothing to do";
    const since = { from: Math.floor(at) - LOOK_BACK_MS, to: Math.floor(database.now()) + LOOK_BACK_MS };
    const { rows } = await client.query<{ stays: boolean }>(STAYS_SINCE[kind](tables[0] as string, since));
    if (rows[0]?.stays) return "nothing to do";
    for (const table of tables) await client.query(`DROP TABLE ${table}`);
    await client.query("DELETE FROM time_partitions WHERE kind = $1 AND from_day = $2", [kind, fromDay]);
    await client.query("DELETE FROM partition_changes WHERE kind = $1 AND from_day = $2", [kind, fromDay]);
    return "done";
  }, "maintenance");
}

/** Whether a row of a partition must be kept: it is too young, not counted yet, or needed by unfinished work. */
const STAYS: Record<PartitionKind, (table: string) => string> = {
  events: (table) => `
    SELECT coalesce((SELECT max(sequence) FROM ${table}), 0) > (SELECT sequence FROM event_types_counted)
      OR EXISTS (
        SELECT FROM environments AS e,
          LATERAL (SELECT FROM ${table} AS p WHERE p.environment_id = e.environment_id AND p.received_at > $1 LIMIT 1) AS younger)
      OR EXISTS (
        SELECT FROM runs JOIN ${table} AS p ON p.environment_id = runs.environment_id AND p.sequence = runs.event_no
        WHERE runs.ended_at IS NULL)
      OR EXISTS (
        SELECT FROM runs CROSS JOIN json_array_elements_text(runs.event_nos::json) AS n(no)
        JOIN ${table} AS p ON p.environment_id = runs.environment_id AND p.sequence = n.no::bigint
        WHERE runs.ended_at IS NULL AND runs.event_nos IS NOT NULL)
      OR EXISTS (SELECT FROM queue JOIN ${table} AS p ON p.environment_id = queue.environment_id AND p.sequence = queue.event_no)
      OR EXISTS (SELECT FROM pending_mirrors AS m JOIN ${table} AS p ON p.environment_id = m.environment_id AND p.event_id = m.event_id)
      OR EXISTS (SELECT FROM resumptions AS r JOIN ${table} AS p ON p.environment_id = r.environment_id AND p.sequence = r.event_no)
      OR EXISTS (SELECT FROM queue WHERE queue.kind = 'gather' AND queue.event_no <= (SELECT max(sequence) FROM ${table})) AS stays`,
  runs: (table) => `SELECT EXISTS (SELECT FROM ${table} WHERE ended_at IS NULL OR ended_at > $1) AS stays`,
  // The service creates their ids from the time of receipt.
  requests: () => "SELECT false AND $1::bigint IS NULL AS stays",
};

/** Rows that may have come or become needed since: senders may choose ids of an old day, and a function was rerun with an old event. */
const STAYS_SINCE: Record<PartitionKind, (table: string, since: { from: number; to: number }) => string> = {
  events: (table, { from, to }) => `
    SELECT EXISTS (
        SELECT FROM environments AS e,
          LATERAL (
            SELECT FROM ${table} AS p
            WHERE p.environment_id = e.environment_id AND p.received_at BETWEEN ${from} AND ${to} LIMIT 1) AS received)
      OR EXISTS (
        SELECT FROM environments AS e,
          LATERAL (
            SELECT FROM runs JOIN ${table} AS p ON p.environment_id = runs.environment_id AND p.sequence = runs.event_no
            WHERE runs.environment_id = e.environment_id AND runs.run_id >= first_id_at(${from}) LIMIT 1) AS anew) AS stays`,
  runs: (table) => `SELECT EXISTS (SELECT FROM ${table} WHERE ended_at IS NULL) AS stays`,
  requests: () => "SELECT false AS stays",
};
