/** Hands old partitions to the archive, and drops those that it has whole. */

import type { PartitionArchive } from "../../contract/index.ts";
import { dayAt } from "../../runs/postgres/run-number.ts";
import type { Database } from "../database.ts";
import { ARCHIVED, type ArchivedKind, beginAttempt, daysOfPartition, noteOutcome, type OldPartition } from "./archive-partition.ts";
import { checkUnneeded, dropOne, unneeded } from "./drop-partitions.ts";
import { makeMissing } from "./make-partitions.ts";
import { isMine, isMoving, lockTables, whenFree } from "./partition-locks.ts";
import { partitionName } from "./partition-tables.ts";

/** Ends with the first partition that the archive does not take: it tells why. */
export async function archiveOld(database: Database, kind: ArchivedKind, at: ArchiveTimes, archive: PartitionArchive): Promise<void> {
  const { until } = at;
  while (await whenFree(() => database.transaction((client) => makeMissing(client, kind, dayAt(until)), "maintenance")));
  for await (const { fromDay } of unneeded(database, kind, until)) {
    let isTaken = false;
    await archive.alone(async () => {
      isTaken = await archiveOne(database, { kind, fromDay, name: (table) => partitionName(table, fromDay) }, at, archive);
    });
    if (!isTaken) return;
  }
}

interface ArchiveTimes {
  now: number;
  /** What is older is not kept. */
  until: number;
}

/** Whether the archive has all of it. It may still stay: because it was changed or needed meanwhile. */
async function archiveOne(
  database: Database,
  partition: OldPartition,
  { now, until }: ArchiveTimes,
  archive: PartitionArchive,
): Promise<boolean> {
  const { kind, fromDay } = partition;
  const attempt = await beginArchive(database, partition);
  if (attempt === null) return true;
  for await (const day of daysOfPartition(database, partition)) {
    const outcome = await archive.write(day);
    if (outcome === "failed") await noteOutcome(database, partition, now);
    if (outcome !== "written") return false;
  }
  await noteOutcome(database, partition, null);
  // Much time may have passed.
  const old = await checkUnneeded(database, kind, fromDay, until);
  if (old) await whenFree(() => dropOne(database, kind, old, { partition, attempt }));
  return true;
}

/** Null: the partition is in use, an environment moves, or another node is at it. */
async function beginArchive(database: Database, partition: OldPartition): Promise<string | null> {
  let attempt: string | null = null;
  await whenFree(() =>
    database.transaction(async (client) => {
      // A partition that cannot be dropped is not written.
      if (!(await isMine(client)) || (await isMoving(client))) return "nothing to do";
      await lockTables(client, ARCHIVED[partition.kind].map(partition.name), "SHARE ROW EXCLUSIVE");
      attempt = await beginAttempt(client, partition);
      return "done";
    }, "maintenance"),
  );
  return attempt;
}
