/** Writes the rows that the units of a group collected, table by table, in lock order (locks.ts). */

import { answerSignals, endApprovals, insertApprovals } from "../approvals/postgres/approval-rows.ts";
import { writeEntries } from "../queue/postgres/queue-entries.ts";
import { writeRuns } from "../runs/postgres/advance-run.ts";
import { insertRuns } from "../runs/postgres/start-runs.ts";
import { failSignals } from "../signals/postgres.ts";
import { writeTraffic } from "../traffic/postgres.ts";
import { writeUsage } from "../usage/postgres.ts";
import { claimSignals, insertWaits, removeWaits } from "../waits/postgres/waits.ts";
import type { PendingWrites } from "./pending-writes.ts";

export async function flushWrites(writes: PendingWrites): Promise<void> {
  insertRuns(writes);
  writeRuns(writes);
  removeWaits(writes);
  insertWaits(writes);
  insertApprovals(writes);
  const signalsTaken = await claimSignals(writes);
  await endApprovals(writes);
  await writeEntries(writes);
  await failSignals(writes, signalsTaken);
  await answerSignals(writes, signalsTaken);
  writeTraffic(writes);
  writeUsage(writes);
}
