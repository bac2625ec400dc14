/**
 * The numbers that represent lanes in the queue. Looked up in the transaction that needs them, under the lock of lanes, so none is
 * removed before the entry that needs it exists.
 */

import type { EnvironmentId } from "@inlet/protocol";
import type { PoolClient } from "pg";
import { fromStoreText, TIMER_LANE, toStoreText } from "../../contract/index.ts";
import type { Database } from "../database.ts";
import { LANES_LOCK, LockSet } from "../locks.ts";

/** The first row of the table, which is never removed. */
export const TIMER_LANE_NO = 1;

/** A lane that was not used for a while may lack its environment: a copy of an embedded store can contain such lanes. */
const FIND = `
  SELECT lane_no, key FROM lanes WHERE md5(key) IN (SELECT md5(wanted) FROM unnest($1::text[]) AS wanted) AND environment_id IS NOT NULL`;
/** In a fixed order, so that two transactions that add the same lanes do not deadlock. */
const ADD = `
  INSERT INTO lanes (key, environment_id) SELECT wanted, $2 FROM unnest($1::text[]) AS wanted ORDER BY md5(wanted)
  ON CONFLICT (md5(key)) DO UPDATE SET environment_id = excluded.environment_id RETURNING lane_no, key`;

interface LaneRow {
  lane_no: number;
  key: string;
}

/** The numbers of these lanes, which are added if missing. */
export async function laneNumbers(client: PoolClient, environmentId: EnvironmentId, keys: Iterable<string>): Promise<Map<string, number>> {
  const numbers = new Map([[TIMER_LANE, TIMER_LANE_NO]]);
  const wanted = [...new Set(keys)].filter((key) => key !== TIMER_LANE).map(toStoreText);
  if (wanted.length === 0) return numbers;
  const note = (rows: readonly LaneRow[]) => {
    for (const { lane_no, key } of rows) numbers.set(fromStoreText(key), lane_no);
  };
  note((await client.query<LaneRow>(FIND, [wanted])).rows);
  const missing = wanted.filter((key) => !numbers.has(fromStoreText(key)));
  if (missing.length > 0) note((await client.query<LaneRow>(ADD, [missing, environmentId])).rows);
  return numbers;
}

/** The lanes with these numbers. All of them exist, because entries are in them. */
export async function laneKeys(client: PoolClient, numbers: Iterable<number>): Promise<Map<number, string>> {
  const wanted = [...new Set(numbers)];
  const { rows } = await client.query<LaneRow>("SELECT lane_no, key FROM lanes WHERE lane_no = ANY ($1::integer[])", [wanted]);
  return new Map(rows.map(({ lane_no, key }) => [lane_no, fromStoreText(key)]));
}

/** Ended runs no longer refer to their lane; all others have an entry that does. */
export async function forgetLanes(
  database: Database,
  { after, limit }: { after: number; limit: number },
): Promise<{ forgotten: number; reached: number | null }> {
  const looked = await database.query<LaneRow>(SOME, [Math.max(after, TIMER_LANE_NO), limit]);
  const numbers = looked.map(({ lane_no }) => lane_no);
  const forgotten = await database.transaction(async (client) => {
    const locks = new LockSet();
    locks.add(LANES_LOCK, "alone");
    await locks.take(client);
    return (await client.query(FORGET, [numbers])).rowCount ?? 0;
  });
  return { forgotten, reached: numbers.length < limit ? null : (numbers.at(-1) ?? null) };
}

const SOME = "SELECT lane_no, key FROM lanes WHERE lane_no > $1 ORDER BY lane_no LIMIT $2";
const FORGET = `
  DELETE FROM lanes WHERE lane_no = ANY ($1::integer[])
    AND NOT EXISTS (
      SELECT FROM queue WHERE queue.environment_id = lanes.environment_id AND queue.lane_no = lanes.lane_no AND queue.lane_no <> ${TIMER_LANE_NO})
    AND NOT EXISTS (
      SELECT FROM queue
      WHERE queue.environment_id = lanes.environment_id AND queue.home_lane_no = lanes.lane_no AND queue.lane_no <> queue.home_lane_no)`;
