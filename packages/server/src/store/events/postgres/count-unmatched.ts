/** Counts events that started and resumed nothing. Their payloads are not read. */

import type { EventUnmatchedParams } from "../../contract/index.ts";
import type { Database } from "../../postgres/database.ts";

const COUNT = `
  SELECT count(*)::integer AS count FROM (
    SELECT matched, source_no FROM events
    WHERE environment_id = $1 AND received_at >= $2 ORDER BY received_at DESC, sequence DESC LIMIT $3) AS newest
  JOIN event_sources USING (source_no) WHERE matched = 0 AND source_kind <> 'internal'`;

export async function countUnmatched(database: Database, { environmentId, from, limit }: EventUnmatchedParams): Promise<number> {
  const [row] = await database.read<{ count: number }>(COUNT, [environmentId, from, limit]);
  return row?.count ?? 0;
}
