/** Writes the rows that the units of a group collected, table by table, in lock order (locks.ts). */

import type { GroupWrites } from "./group-writes.ts";
import { writeEntries } from "./queue/queue-entries.ts";
import { writeRuns } from "./runs/advance-run.ts";
import { failSignals } from "./runs/signals.ts";
import { insertRuns } from "./runs/start-runs.ts";
import { claimSignals, insertWaits, removeWaits } from "./runs/waits.ts";

export async function writeGathered(writes: GroupWrites): Promise<void> {
  insertRuns(writes);
  writeRuns(writes);
  removeWaits(writes);
  insertWaits(writes);
  const signalsTaken = await claimSignals(writes);
  await writeEntries(writes);
  await failSignals(writes, signalsTaken);
}
