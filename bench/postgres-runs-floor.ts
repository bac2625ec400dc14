/**
 * What PostgreSQL itself can do about runs: the rows of a run without steps, written by a bare `pg` client in groups of a given size, on
 * two connections as a node uses them, into tables that Inlet made. A run is written twice, as Inlet does: when it begins (event, run,
 * place in the queue), and when it has ended (the run's end, its call, the place given up). Nothing is decided, checked or called, and
 * nobody is told of anything.
 *
 *   node bench/postgres-runs-floor.ts <database url> <runs in a group> <seconds>
 */

import { createEventIdGenerator } from "@inlet/protocol";
import { Client } from "pg";
import { dayAt, firstRunNumber } from "../packages/server/src/store/postgres/run-number.ts";
import type { FloorResult } from "./postgres-floor.ts";

const CONNECTIONS = 2;
const WARM_UP_MS = 1_000;
const DATA = '{"n":1,"order":"A-1042","total":99.5}';
const ANSWER = '"ok"';

const BEGIN = `
  WITH sent AS (SELECT * FROM unnest($1::text[], $2::bigint[]) AS s(id, no)),
  kept AS (
    INSERT INTO events (sequence, environment_id, event_id, name_id, ts, received_at, source_no, data)
    SELECT s.no, 1, s.id, 1, $3, $3, 1, $4 FROM sent AS s),
  begun AS (
    INSERT INTO runs (run_no, environment_id, run_id, function_no, event_no, status, lane_no, created_at)
    SELECT s.no, 1, s.id, 1, s.no, 'queued', 2, $3 FROM sent AS s)
  INSERT INTO queue (entry_no, environment_id, lane_no, home_lane_no, rank, due_at, kind, run_no, function_no, leased_by)
  SELECT s.no, 1, 2, 2, $3, $3, 'call', s.no, 1, 'floor' FROM sent AS s`;
const END = `
  WITH ended AS (SELECT unnest($1::bigint[]) AS no),
  completed AS (
    UPDATE runs SET revision = 1, status = 'completed', started_at = $2, ended_at = $2, output = $3
    FROM ended WHERE runs.environment_id = 1 AND runs.run_no = ended.no AND runs.run_no BETWEEN $4 AND $5),
  called AS (
    INSERT INTO calls (environment_id, run_no, attempt, started_at, ended_at, http_status, is_error, path, steps_given, answer, answer_length)
    SELECT 1, ended.no, 0, $2, $2, 200, 0, '/api', 0, $3, 4 FROM ended)
  DELETE FROM queue USING ended WHERE queue.environment_id = 1 AND queue.entry_no = ended.no`;

const [url = "", size = "1", seconds = "5"] = process.argv.slice(2);
const ids = createEventIdGenerator();
let lastNo = firstRunNumber(dayAt(Date.now()));

const measureFrom = performance.now() + WARM_UP_MS;
const endAt = measureFrom + Number(seconds) * 1_000;
let runs = 0;
await Promise.all(Array.from({ length: CONNECTIONS }, work));
console.log(JSON.stringify({ events: runs, seconds: Number(seconds) } satisfies FloorResult));

async function work(): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  for (let now = performance.now(); now < endAt; now = performance.now()) {
    await writeGroup(client, Number(size));
    if (now >= measureFrom) runs += Number(size);
  }
  await client.end();
}

async function writeGroup(client: Client, count: number): Promise<void> {
  const now = Date.now();
  const numbers = Array.from({ length: count }, () => ++lastNo);
  await client.query({ name: "begin", text: BEGIN, values: [numbers.map(() => ids.next(now)), numbers, now, DATA] });
  await client.query({ name: "end", text: END, values: [numbers, now, ANSWER, numbers[0], numbers.at(-1)] });
}
