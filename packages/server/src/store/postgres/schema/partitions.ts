/**
 * Partitions by time: created ahead, and dropped once none of their rows is needed. One node does it at a time; the others find
 * nothing to do. 001-tables.sql explains how tables are partitioned.
 */

import { setTimeout as pause } from "node:timers/promises";
import { firstIdAt } from "@inlet/protocol";
import type { PoolClient } from "pg";
import type { PartitionArchive, RetentionMaintainParams } from "../../contract/index.ts";
import { DAY_MS, dayAt, firstRunNumber } from "../../runs/postgres/run-number.ts";
import type { Database } from "../database.ts";
import { isLockTimeout } from "../failures.ts";
import { ARCHIVED, type ArchivedKind, beginAttempt, daysOfPartition, isUnchanged, type OldPartition } from "./archive-partition.ts";

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

export async function maintainPartitions(database: Database, { now, keptMs, archive }: RetentionMaintainParams): Promise<void> {
  for (const kind of ["events", "runs", "requests"] as const) {
    const days = daysPerPartition(keptMs[kind]);
    while (await whenFree(() => database.transaction((client) => makeNext(client, kind, dayAt(now), days), "maintenance")));
  }
  // What is not archived first: an archive takes its time.
  for (const kind of ["requests", "events", "runs"] as const) {
    const kept = keptMs[kind];
    if (kept === null) continue;
    if (kind === "requests" || !archive) await dropOld(database, kind, now - kept);
    else await archiveOld(database, kind, now - kept, archive);
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
  for await (const fromDay of unneeded(database, kind, until)) await whenFree(() => dropOne(database, kind, fromDay));
}

/** Ends with the first partition that the archive does not take: it tells why. */
async function archiveOld(database: Database, kind: ArchivedKind, until: number, archive: PartitionArchive): Promise<void> {
  while (await whenFree(() => database.transaction((client) => makeMissing(client, kind, dayAt(until)), "maintenance")));
  for await (const fromDay of unneeded(database, kind, until)) {
    let isTaken = false;
    await archive.alone(async () => {
      isTaken = await archiveOne(database, { kind, fromDay, name: (table) => partitionName(table, fromDay) }, until, archive);
    });
    if (!isTaken) return;
  }
}

/** Whether the archive has all of it. It may still stay: because it was changed or needed meanwhile. */
async function archiveOne(database: Database, partition: OldPartition, until: number, archive: PartitionArchive): Promise<boolean> {
  const { kind, fromDay } = partition;
  const attempt = await beginArchive(database, partition);
  if (attempt === null) return true;
  for await (const day of daysOfPartition(database, partition)) if (!(await archive.write(day))) return false;
  // Much time may have passed.
  if (!(await isNeeded(database, kind, fromDay, until))) await whenFree(() => dropOne(database, kind, fromDay, { partition, attempt }));
  return true;
}

/** Null: the partition is in use, or another node is at it. */
async function beginArchive(database: Database, partition: OldPartition): Promise<string | null> {
  let attempt: string | null = null;
  await whenFree(() =>
    database.transaction(async (client) => {
      if (!(await isMine(client))) return "nothing to do";
      await lockTables(client, ARCHIVED[partition.kind].map(partition.name), "SHARE ROW EXCLUSIVE");
      attempt = await beginAttempt(client, partition);
      return "done";
    }, "maintenance"),
  );
  return attempt;
}

/** Rows of past days that no partition covers are in the rest, which is never dropped: the whole gap around the first of them gets one. */
async function makeMissing(client: PoolClient, kind: ArchivedKind, untilDay: number): Promise<Outcome> {
  if (!(await isMine(client))) return "nothing to do";
  const rest = TABLES[kind].map((table) => `${table}_rest`);
  await lockTables(client, rest);
  const { rows } = await client.query<PartitionRow>(
    `SELECT coalesce(before.to_day, 0) AS from_day, least(after.from_day, $2) AS to_day
     FROM (SELECT min(${KEYS[kind]}) AS first FROM ${rest[0]} WHERE ${KEYS[kind]} < ${boundOf(kind, untilDay)}) AS r,
     LATERAL (SELECT max(to_day) AS to_day FROM time_partitions WHERE kind = $1 AND ${FIRST_OF_DAY[kind]("to_day")} <= r.first) AS before,
     LATERAL (SELECT min(from_day) AS from_day FROM time_partitions WHERE kind = $1 AND ${FIRST_OF_DAY[kind]("from_day")} > r.first) AS after
     WHERE r.first IS NOT NULL`,
    [kind, untilDay],
  );
  const [gap] = rows;
  if (!gap) return "nothing to do";
  await makeOne(client, kind, gap.from_day, gap.to_day);
  return "done";
}

/** The lowest key of a day, in SQL. */
const FIRST_OF_DAY: Record<ArchivedKind, (day: string) => string> = {
  events: (day) => `first_id_at(${day} * ${DAY_MS}::bigint)`,
  runs: (day) => `${day} * ${firstRunNumber(1)}::bigint`,
};

/** Old partitions of which nothing is needed. Checked without a lock; what may change until they are dropped is checked again under one. */
async function* unneeded(database: Database, kind: PartitionKind, until: number): AsyncGenerator<number> {
  const old = await database.read<PartitionRow>(
    "SELECT from_day, to_day FROM time_partitions WHERE kind = $1 AND to_day <= $2 ORDER BY from_day",
    [kind, dayAt(until)],
  );
  for (const { from_day } of old) if (!(await isNeeded(database, kind, from_day, until))) yield from_day;
}

async function isNeeded(database: Database, kind: PartitionKind, fromDay: number, until: number): Promise<boolean> {
  const [row] = await database.read<{ stays: boolean }>(STAYS[kind](partitionName(TABLES[kind][0] as string, fromDay)), [until]);
  return row?.stays === true;
}

/** What was archived of it must be what is in it. */
interface Archived {
  partition: OldPartition;
  attempt: string;
}

function dropOne(database: Database, kind: PartitionKind, fromDay: number, archived?: Archived): Promise<Outcome> {
  const tables = TABLES[kind].map((table) => partitionName(table, fromDay));
  return database.transaction(async (client) => {
    if (!(await isMine(client)) || (await isLeft(client))) return "nothing to do";
    await lockTables(client, TABLES[kind]);
    await lockTables(client, tables);
    if (archived && !(await isUnchanged(client, archived.partition, archived.attempt))) return "nothing to do";
    const { rows } = await client.query<{ stays: boolean }>(STAYS_SINCE[kind](tables[0] as string), [database.now() - LOOK_BACK_MS]);
    if (rows[0]?.stays) return "nothing to do";
    for (const table of tables) await client.query(`DROP TABLE ${table}`);
    await client.query("DELETE FROM time_partitions WHERE kind = $1 AND from_day = $2", [kind, fromDay]);
    await client.query("DELETE FROM partition_changes WHERE kind = $1 AND from_day = $2", [kind, fromDay]);
    return "done";
  }, "maintenance");
}

/** Throws TablesInUse if another transaction held one of them for too long. */
async function lockTables(client: PoolClient, tables: readonly string[], mode = "ACCESS EXCLUSIVE"): Promise<void> {
  await client.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`);
  try {
    for (const table of tables) await client.query(`LOCK TABLE ONLY ${table} IN ${mode} MODE`);
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
