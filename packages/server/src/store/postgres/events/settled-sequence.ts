/** How far a table can be read in the order of its numbers: see settled_sequence in migrations. */

import type { Database } from "../database.ts";

const FENCES = { events: [7_264, "event_sequence"], requests: [7_265, "request_sequence"] } as const;

export async function settledSequence(database: Database, of: keyof typeof FENCES = "events"): Promise<number> {
  const [row] = await database.query<{ settled: number }>("SELECT settled_sequence($1, $2) AS settled", FENCES[of]);
  return row?.settled ?? 0;
}
