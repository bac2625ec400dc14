/**
 * Partitions by time: created ahead, and dropped once none of their rows is needed. One node does it at a time; the others find
 * nothing to do. 001-tables.sql explains how tables are partitioned.
 */

import { setTimeout as pause } from "node:timers/promises";
import { firstIdAt } from "@inlet/protocol";
import type { PoolClient } from "pg";
import type { RetentionMaintainParams } from "../../contract/index.ts";
import { DAY_MS, dayAt, firstRunNumber } from "../../runs/postgres/run-number.ts";
import type { Database } from "../database.ts";
import { isLockTimeout } from "../failures.ts";

export type PartitionKind = "events" | "runs" | "requests";

/** The tables of a kind are partitioned alike, and their partitions are created and dropped together. */
const TABLES: Record<PartitionKind, readonly string[]> = {
  events: ["events"],
  runs: ["runs", "batched_events", "steps", "failed_attempts", "calls"],
  requests: ["webhook_requests"],
};
const KEYS: Record<PartitionKind, string> = { events: "event_id", runs: "run_no", requests: "request_id" };
export const MAINTAIN_LOCK = 7_266;
/** How far ahead partitions are created: for this long, rows find their partition even if no node runs this code. */
const AHEAD_DAYS = 3;
/** Many enough that rows kept too long, because partitions are dropped whole, are a small part; few enough to keep their number low. */
const PARTITIONS_PER_RETENTION = 30;
const DAYS_MAX = 30;
/** Longer than the time between the two checks of a partition. */
const LOOK_BACK_MS = 60_000;
/**
 * A transaction that wants to lock a table exclusively waits for all that use it, and blocks all others meanwhile: it soon gives up and
 * is retried. It locks several tables, which others use in any order: it must end before PostgreSQL's deadlock detection, which runs
 * after a second and might abort the wrong transaction.
 */
const LOCK_TIMEOUT_MS = 100;
const LOCK_TRIES = 10;
const LOCK_PAUSE_MS = 200;

type Outcome = "done" | "nothing to do";

/** The tables are in use: the transaction is rolled back and retried. */
class TablesInUse extends Error {}

interface PartitionRow {
  from_day: number;
  to_day: number;
}

/** Past partitions, and those without a time range: old rows there are deleted individually, unless the partition is dropped. */
export async function tablesUntil(database: Database, kind: PartitionKind, until: number): Promise<string[]> {
  const table = TABLES[kind][0] as string;
  const rows = await database.read<PartitionRow>(
    "SELECT from_day, to_day FROM time_partitions WHERE kind = $1 AND (from_day = 0 OR to_day <= $2) ORDER BY from_day",
    [kind, dayAt(until)],
  );
  return [...rows.map(({ from_day }) => partitionName(table, from_day)), `${table}_rest`];
}

export async function maintainPartitions(database: Database, { now, keptMs }: RetentionMaintainParams): Promise<void> {
  for (const kind of ["events", "runs", "requests"] as const) {
    const days = daysPerPartition(keptMs[kind]);
    while (await whenFree(() => database.transaction((client) => makeNext(client, kind, dayAt(now), days), "maintenance")));
    const kept = keptMs[kind];
    if (kept !== null) await dropOld(database, kind, now - kept);
  }
}

/** Retries while tables are in use, for a limited time. Returns whether anything was done. */
async function whenFree(work: () => Promise<Outcome>): Promise<boolean> {
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

async function isMine(client: PoolClient): Promise<boolean> {
  const { rows } = await client.query<{ mine: boolean }>("SELECT pg_try_advisory_xact_lock($1) AS mine", [MAINTAIN_LOCK]);
  return rows[0]?.mine === true;
}

/** Whether an environment leaves this database: its rows are copied, and a partition that is dropped takes them away unnoticed. */
async function isLeft(client: PoolClient): Promise<boolean> {
  return ((await client.query("SELECT FROM moving_environments WHERE role = 'leaving' LIMIT 1")).rowCount ?? 0) > 0;
}

function daysPerPartition(keptMs: number | null): number {
  if (keptMs === null) return DAYS_MAX;
  return Math.min(DAYS_MAX, Math.max(1, Math.floor(keptMs / DAY_MS / PARTITIONS_PER_RETENTION)));
}

/** Days without a running node have no partition: their rows are in the rest. */
async function makeNext(client: PoolClient, kind: PartitionKind, today: number, days: number): Promise<Outcome> {
  await client.query("SELECT pg_advisory_xact_lock($1)", [MAINTAIN_LOCK]);
  const { rows } = await client.query<{ last: number | null }>("SELECT max(to_day) AS last FROM time_partitions WHERE kind = $1", [kind]);
  const day = Math.max(rows[0]?.last ?? 0, today);
  if (day > today + AHEAD_DAYS) return "nothing to do";
  // Rows that arrived before their partition existed are in the rest, which is locked meanwhile.
  const rest = TABLES[kind].map((table) => `${table}_rest`);
  await lockTables(client, rest);
  await makeOne(client, kind, day, day + days);
  return "done";
}

async function makeOne(client: PoolClient, kind: PartitionKind, fromDay: number, toDay: number): Promise<void> {
  const [from, to] = [boundOf(kind, fromDay), boundOf(kind, toDay)];
  for (const table of TABLES[kind]) {
    const name = partitionName(table, fromDay);
    const [rest, key] = [`${table}_rest`, KEYS[kind]];
    await client.query(`CREATE TABLE ${name} (LIKE ${table} INCLUDING DEFAULTS)${table === "runs" ? " WITH (fillfactor = 80)" : ""}`);
    if (table === "runs") await client.query(`CREATE UNIQUE INDEX ON ${name} (environment_id, run_id)`);
    await client.query(
      `WITH moved AS (DELETE FROM ${rest} WHERE ${key} >= ${from} AND ${key} < ${to} RETURNING *) INSERT INTO ${name} SELECT * FROM moved`,
    );
    await client.query(`ALTER TABLE ${table} ATTACH PARTITION ${name} FOR VALUES FROM (${from}) TO (${to})`);
  }
  await client.query("INSERT INTO time_partitions (kind, from_day, to_day) VALUES ($1, $2, $3)", [kind, fromDay, toDay]);
}

/** As a literal: bounds of partitions cannot be parameters. */
function boundOf(kind: PartitionKind, day: number): string {
  if (kind === "runs") return String(firstRunNumber(day));
  return `'${kind === "requests" ? "req_" : ""}${firstIdAt(day * DAY_MS)}'`;
}

function partitionName(table: string, fromDay: number): string {
  return fromDay === 0 ? `${table}_before` : `${table}_${new Date(fromDay * DAY_MS).toISOString().slice(0, 10).replaceAll("-", "")}`;
}

async function dropOld(database: Database, kind: PartitionKind, until: number): Promise<void> {
  const old = await database.read<PartitionRow>(
    "SELECT from_day, to_day FROM time_partitions WHERE kind = $1 AND to_day <= $2 ORDER BY from_day",
    [kind, dayAt(until)],
  );
  for (const { from_day } of old) {
    const tables = TABLES[kind].map((table) => partitionName(table, from_day));
    // Checked without a lock first; what may have changed since is checked again under the lock.
    const [needed] = await database.read<{ stays: boolean }>(STAYS[kind](tables[0] as string), [until]);
    if (!needed?.stays) await whenFree(() => dropOne(database, kind, from_day, tables));
  }
}

function dropOne(database: Database, kind: PartitionKind, fromDay: number, tables: readonly string[]): Promise<Outcome> {
  return database.transaction(async (client) => {
    if (!(await isMine(client)) || (await isLeft(client))) return "nothing to do";
    await lockTables(client, TABLES[kind]);
    const { rows } = await client.query<{ stays: boolean }>(STAYS_SINCE[kind](tables[0] as string), [database.now() - LOOK_BACK_MS]);
    if (rows[0]?.stays) return "nothing to do";
    for (const table of tables) await client.query(`DROP TABLE ${table}`);
    await client.query("DELETE FROM time_partitions WHERE kind = $1 AND from_day = $2", [kind, fromDay]);
    return "done";
  }, "maintenance");
}

/** Throws TablesInUse if another transaction held one of them for too long. */
async function lockTables(client: PoolClient, tables: readonly string[]): Promise<void> {
  await client.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`);
  try {
    for (const table of tables) await client.query(`LOCK TABLE ONLY ${table} IN ACCESS EXCLUSIVE MODE`);
  } catch (error) {
    throw isLockTimeout(error) ? new TablesInUse("tables are in use", { cause: error }) : error;
  }
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

/** Rows that may have become needed since: a function was rerun with an old event. */
const STAYS_SINCE: Record<PartitionKind, (table: string) => string> = {
  events: (table) => `
    SELECT EXISTS (
      SELECT FROM environments AS e,
        LATERAL (
          SELECT FROM runs JOIN ${table} AS p ON p.environment_id = runs.environment_id AND p.sequence = runs.event_no
          WHERE runs.environment_id = e.environment_id AND runs.run_id >= first_id_at($1) LIMIT 1) AS anew) AS stays`,
  runs: (table) => `SELECT EXISTS (SELECT FROM ${table} WHERE ended_at IS NULL) AND $1::bigint IS NOT NULL AS stays`,
  requests: STAYS.requests,
};
