/** The database as the views of the store use it: reads go to its replica whenever that is fresh, everything else to the primary. */

import type { QueryResultRow } from "pg";
import type { Database } from "../database.ts";
import type { Replica } from "./replica.ts";

export function viewingDatabase(primary: Database, replica: Replica): Database {
  return {
    read: (text, values) => replica.read(text, values),
    readTogether: (work) => replica.readTogether(work),
    query: <Row extends QueryResultRow>(...params: Parameters<Database["query"]>) => primary.query<Row>(...params),
    transaction: (work, kind) => primary.transaction(work, kind),
    vacuum: (table) => primary.vacuum(table),
    dedicated: () => primary.dedicated(),
    now: () => primary.now(),
    readClock: () => primary.readClock(),
    stop: () => primary.stop(),
    abandon: () => primary.abandon(),
  };
}
