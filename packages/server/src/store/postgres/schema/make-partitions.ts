/** Creates partitions: ahead of time, and for rows of past days that have none. */

import { DAY_MS } from "@inlet/protocol";
import type { PoolClient } from "pg";
import { firstRunNumber } from "../../runs/postgres/run-number.ts";
import type { ArchivedKind } from "./archive-partition.ts";
import { isMine, lockTables, MAINTAIN_LOCK, type Outcome } from "./partition-locks.ts";
import { boundOf, KEYS, type PartitionKind, type PartitionRow, partitionName, TABLES } from "./partition-tables.ts";

/** How far ahead partitions are created: for this long, rows find their partition even if no node runs this code. */
const AHEAD_DAYS = 3;
/** Many enough that rows kept too long, because partitions are dropped whole, are a small part; few enough to keep their number low. */
const PARTITIONS_PER_RETENTION = 30;
const DAYS_MAX = 30;

export function daysPerPartition(keptMs: number | null): number {
  if (keptMs === null) return DAYS_MAX;
  return Math.min(DAYS_MAX, Math.max(1, Math.floor(keptMs / DAY_MS / PARTITIONS_PER_RETENTION)));
}

/** Days without a running node have no partition: their rows are in the rest. */
export async function makeNext(client: PoolClient, kind: PartitionKind, today: number, days: number): Promise<Outcome> {
  await client.query("SELECT pg_advisory_xact_lock($1)", [MAINTAIN_LOCK]);
  const { rows } = await client.query<{ last: number | null }>("SELECT max(to_day) AS last FROM time_partitions WHERE kind = $1", [kind]);
  const day = Math.max(rows[0]?.last ?? 0, today);
  if (day > today + AHEAD_DAYS) return "nothing to do";
  await (day <= today + 1 ? lockWhole(client, kind) : lockRest(client, kind));
  await makeOne(client, kind, day, day + days);
  return "done";
}

/** Of days to come: no row of theirs can arrive meanwhile. */
function lockRest(client: PoolClient, kind: PartitionKind): Promise<void> {
  return lockTables(client, restOf(kind));
}

/**
 * Rows that arrived before their partition existed are in the rest, and move. A statement that knew the partitions before this, and waited
 * only for the rest, would not find these rows, or write others where they may not be any more: it waits for the whole table.
 */
function lockWhole(client: PoolClient, kind: PartitionKind): Promise<void> {
  return lockTables(client, [...TABLES[kind], ...restOf(kind)]);
}

function restOf(kind: PartitionKind): string[] {
  return TABLES[kind].map((table) => `${table}_rest`);
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

/** Rows of past days that no partition covers are in the rest, which is never dropped: the whole gap around the first of them gets one. */
export async function makeMissing(client: PoolClient, kind: ArchivedKind, untilDay: number): Promise<Outcome> {
  if (!(await isMine(client))) return "nothing to do";
  await lockWhole(client, kind);
  const { rows } = await client.query<PartitionRow>(
    `SELECT coalesce(before.to_day, 0) AS from_day, least(after.from_day, $2) AS to_day
     FROM (SELECT min(${KEYS[kind]}) AS first FROM ${restOf(kind)[0]} WHERE ${KEYS[kind]} < ${boundOf(kind, untilDay)}) AS r,
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
