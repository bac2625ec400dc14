/** Counts events that started and resumed nothing, on the read thread. Their payloads are not read. */

import type { DatabaseSync } from "node:sqlite";
import type { EventUnmatchedParams } from "../../contract/index.ts";

const COUNT = `
  SELECT count(*) AS count FROM (
    SELECT matched, source_no FROM events INDEXED BY events_by_time
    WHERE environment_id = ? AND received_at >= ? ORDER BY received_at DESC, sequence DESC LIMIT ?) AS newest
  CROSS JOIN event_sources USING (source_no) WHERE matched = 0 AND source_kind <> 'internal'`;

export function countUnmatched(db: DatabaseSync, { environmentId, from, limit }: EventUnmatchedParams): number {
  return (db.prepare(COUNT).get(environmentId, from, limit) as { count: number }).count;
}
