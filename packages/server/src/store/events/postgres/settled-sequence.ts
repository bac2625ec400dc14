/** How far a table can be read in the order of its numbers: see functions/settled-sequence.sql. */

import type { Database, Read } from "../../postgres/database.ts";

export const FENCES = { events: [7_264, "event_sequence"], requests: [7_265, "request_sequence"] } as const;

/** Always asked of the primary: a replica has none of its locks. */
export async function settledSequence(database: Database, of: keyof typeof FENCES = "events"): Promise<number> {
  const [row] = await database.query<{ settled: number }>("SELECT settled_sequence($1, $2) AS settled", FENCES[of], "read");
  return row?.settled ?? 0;
}

const TABLES = { events: "events", requests: "webhook_requests" } as const;

/**
 * How far to read so that at most `count` rows follow `after`. Numbers have gaps: each database of several counts in steps, and goes on above
 * the numbers of an environment that was moved to it. `settled`: where the table ends.
 */
export async function sequenceAfter(
  read: Read,
  { after, settled, count, of = "events" }: { after: number; settled: number; count: number; of?: keyof typeof FENCES },
): Promise<number> {
  if (settled - after <= count) return settled;
  const next = `SELECT sequence FROM ${TABLES[of]} WHERE sequence > $1 AND sequence <= $2 ORDER BY sequence LIMIT $3`;
  const text = `SELECT max(sequence) AS reached, count(*)::integer AS found FROM (${next}) AS next`;
  const [row] = await read<{ reached: number | null; found: number }>(text, [after, settled, count]);
  return row && row.found === count ? (row.reached as number) : settled;
}
