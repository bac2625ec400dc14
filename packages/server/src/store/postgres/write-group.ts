/** Writes the rows that the units of a group collected, table by table, in lock order (locks.ts). */

import type { GroupWrites } from "./group-writes.ts";
import { laneNumbers } from "./queue/lanes.ts";
import { writeEntries } from "./queue/queue-entries.ts";
import { writeRuns } from "./runs/advance-run.ts";
import { failSignals } from "./runs/signals.ts";
import { insertRuns } from "./runs/start-runs.ts";
import { claimSignals, insertWaits, removeWaits } from "./runs/waits.ts";

/** The lock of lanes is held. */
export async function writeGathered(writes: GroupWrites): Promise<void> {
  const entries = [...writes.entriesAdded, ...writes.entriesRenewed];
  const lanes = entries.flatMap(({ write, position }) => [write.lane, position.lane]);
  const laneNos = await laneNumbers(writes.client, writes.environmentId, lanes);
  insertRuns(writes, laneNos);
  writeRuns(writes);
  removeWaits(writes);
  insertWaits(writes);
  const signalsTaken = await claimSignals(writes);
  await writeEntries(writes, laneNos);
  await failSignals(writes, signalsTaken);
}
