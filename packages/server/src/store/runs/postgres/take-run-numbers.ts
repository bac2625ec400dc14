/** Numbers of runs, taken for a whole group at once. Numbers of a rolled-back transaction are not reused. */

import type { RunNo } from "@inlet/protocol";
import type { PendingWrites } from "../../postgres/pending-writes.ts";
import { runNumber } from "./run-number.ts";

const TAKE = `
  SELECT nextval('run_numbers') AS no, (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now FROM generate_series(1, $1)`;

export async function takeRunNumbers(writes: PendingWrites, count: number): Promise<RunNo[]> {
  const rows = await writes.rows<{ no: number; now: number }>(TAKE, count);
  return rows.map(({ no, now }) => runNumber(now, no));
}
