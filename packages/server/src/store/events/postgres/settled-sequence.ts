/** How far a table can be read in the order of its numbers: see functions/settled-sequence.sql. */

import type { Database } from "../../postgres/database.ts";

export const FENCES = { events: [7_264, "event_sequence"], requests: [7_265, "request_sequence"] } as const;

/** Always asked of the primary: a replica has none of its locks. */
export async function settledSequence(database: Database, of: keyof typeof FENCES = "events"): Promise<number> {
  const [row] = await database.query<{ settled: number }>("SELECT settled_sequence($1, $2) AS settled", FENCES[of], "read");
  return row?.settled ?? 0;
}
