/** Stored events for which runs are about to be started. */

import { eventRemovalLock, LockSet } from "../../postgres/locks.ts";
import type { PendingWrites } from "../../postgres/pending-writes.ts";

/** By number first, then by environment: PostgreSQL might otherwise read the whole environment. */
const STORED = `
  SELECT sequence FROM (SELECT sequence, environment_id FROM events WHERE sequence = ANY ($2::bigint[]) OFFSET 0) AS events
  WHERE environment_id = $1`;

/** Which of these events are stored. They stay until the transaction ends. Reading them also keeps their partition. */
export async function keepEvents(writes: PendingWrites, sequences: readonly number[]): Promise<ReadonlySet<number>> {
  if (sequences.length === 0) return new Set();
  const locks = new LockSet();
  locks.add(eventRemovalLock(), "shared");
  locks.send(writes);
  const rows = await writes.rows<{ sequence: number }>(STORED, writes.environmentId, [...new Set(sequences)]);
  return new Set(rows.map(({ sequence }) => sequence));
}
