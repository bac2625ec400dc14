/**
 * Partitions by time: created ahead, and dropped once none of their rows is needed. One node does it at a time; the others find
 * nothing to do.
 */

import type { RetentionMaintainParams } from "../../contract/index.ts";
import { dayAt } from "../../runs/postgres/run-number.ts";
import type { Database } from "../database.ts";
import { archiveOld } from "./archive-old-partitions.ts";
import { dropOld } from "./drop-partitions.ts";
import { daysPerPartition, makeNext } from "./make-partitions.ts";
import { whenFree } from "./partition-locks.ts";
import { type PartitionKind, type PartitionRow, partitionName, TABLES } from "./partition-tables.ts";

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
    else await archiveOld(database, kind, { now, until: now - kept }, archive);
  }
}
