/** Sequence numbers of events and runs, taken for a whole group at once. Numbers of a rolled-back transaction are not reused. */

import type { RunNo } from "@inlet/protocol";
import type { GroupWrites } from "../group-writes.ts";
import { runNumber } from "../runs/run-number.ts";
import { FENCES } from "./settled-sequence.ts";

const TAKE = `
  SELECT take_sequences($1, $2, $3) AS events,
    (SELECT array_agg(nextval('run_numbers')) FROM generate_series(1, $4)) AS runs,
    (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now`;

export async function takeNumbers(
  writes: GroupWrites,
  { events, runs }: { events: number; runs: number },
): Promise<{ events: number[]; runs: RunNo[] }> {
  const [row] = await writes.rows<{ events: number[] | null; runs: number[] | null; now: number }>(TAKE, ...FENCES.events, events, runs);
  const now = row?.now ?? 0;
  return { events: row?.events ?? [], runs: (row?.runs ?? []).map((no) => runNumber(now, no)) };
}
