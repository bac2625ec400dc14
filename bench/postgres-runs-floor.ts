/**
 * What PostgreSQL itself can do about runs: the rows of a run without steps, written by bare `pg` clients into tables that Inlet made. A run
 * is written twice, as Inlet does: when it begins (event, run, place in the queue), and when it has ended (the run's end, its call, the place
 * given up); each time in groups of a given size. Nothing is decided or checked, and nobody is told of anything.
 *
 *   node bench/postgres-runs-floor.ts alone <database url> <begun,ended> <seconds> <clients>   as fast as it can; prints a line of JSON
 *   node bench/postgres-runs-floor.ts http <database url> <begun,ended> <call>    begins a run for each event posted to it, and calls an app
 *
 * `alone` has the machine to itself: nobody sends anything, no app is called, and each client writes one group after the other. `http` does
 * what any service has to do that is sent events by HTTP, keeps runs in PostgreSQL and calls an app for each of them by HTTP, and nothing
 * else: it posts the given call, which is one that Inlet made, to the same app. It uses as many clients at once as a node does. So the two
 * can be set side by side where all of it runs on a few cores.
 */

import { createServer } from "node:http";
import { createEventIdGenerator } from "@inlet/protocol";
import { Client } from "pg";
import { Agent } from "undici";
import { dayAt, firstRunNumber } from "../packages/server/src/store/runs/postgres/run-number.ts";
import type { SampledCall } from "./app-server.ts";
import { listen, onJson } from "./loopback-server.ts";
import type { FloorResult } from "./postgres-floor.ts";

export interface FloorCall extends SampledCall {
  origin: string;
  /** As many as Inlet makes. */
  atOnce: number;
}

/** As many groups are under way at once in a node. */
const CLIENTS_BY_HTTP = 2;
const WARM_UP_MS = 1_000;
const DATA = '{"n":1,"order":"A-1042","total":99.5}';
const ANSWER = '"ok"';

const BEGIN = `
  WITH sent AS (SELECT * FROM unnest($1::text[], $2::bigint[], $4::text[]) AS s(id, no, data)),
  kept AS (
    INSERT INTO events (sequence, environment_id, event_id, name_id, ts, received_at, source_no, data)
    SELECT s.no, 1, s.id, 1, $3, $3, 1, s.data FROM sent AS s),
  begun AS (
    INSERT INTO runs (run_no, environment_id, run_id, function_no, event_no, status, lane, created_at)
    SELECT s.no, 1, s.id, 1, s.no, 'queued', 'app:1', $3 FROM sent AS s)
  INSERT INTO queue (entry_no, environment_id, lane, home_lane, rank, home_rank, due_at, kind, run_no, function_no, leased_by)
  SELECT s.no, 1, 'app:1', 'app:1', $3, $3, $3, 'call', s.no, 1, 'floor' FROM sent AS s`;
const END = `
  WITH ended AS (SELECT * FROM unnest($1::bigint[], $3::text[]) AS e(no, answer)),
  completed AS (
    UPDATE runs SET status = 'completed', started_at = $2, ended_at = $2, output = ended.answer
    FROM ended WHERE runs.environment_id = 1 AND runs.run_no = ended.no AND runs.run_no BETWEEN $4 AND $5),
  called AS (
    INSERT INTO calls (environment_id, run_no, attempt, started_at, ended_at, http_status, is_error, path, steps_given, answer, answer_length)
    SELECT 1, ended.no, 0, $2, $2, 200, 0, '/api', 0, ended.answer, 4 FROM ended)
  DELETE FROM queue USING ended WHERE queue.environment_id = 1 AND queue.entry_no = ended.no`;

interface Run {
  no: number;
  id: string;
  data: string;
  answer: string;
}

const [how, url = "", sizes = "1,1", last = "5", count = "1"] = process.argv.slice(2);
const [begunAtOnce = 1, endedAtOnce = 1] = sizes.split(",").map(Number);
const ids = createEventIdGenerator();
const clients = await Promise.all(Array.from({ length: how === "alone" ? Number(count) : CLIENTS_BY_HTTP }, connected));
let lastNo = await highestRunNumber(clients[0] as Client);
if (how === "alone") await writeAlone(Number(last));
else serve(JSON.parse(last) as FloorCall);

async function connected(): Promise<Client> {
  const client = new Client({ connectionString: url });
  await client.connect();
  return client;
}

async function highestRunNumber(client: Client): Promise<number> {
  const { rows } = await client.query("SELECT greatest($1, max(run_no))::text AS no FROM runs", [firstRunNumber(dayAt(Date.now()))]);
  return Number(rows[0].no);
}

function newRun(data: string): Run {
  return { no: ++lastNo, id: ids.next(Date.now()), data, answer: ANSWER };
}

async function begin(client: Client, runs: readonly Run[]): Promise<void> {
  const values = [runs.map(({ id }) => id), runs.map(({ no }) => no), Date.now(), runs.map(({ data }) => data)];
  await client.query({ name: "begin", text: BEGIN, values });
}

async function end(client: Client, runs: readonly Run[]): Promise<void> {
  const numbers = runs.map(({ no }) => no);
  const values = [numbers, Date.now(), runs.map(({ answer }) => answer), Math.min(...numbers), Math.max(...numbers)];
  await client.query({ name: "end", text: END, values });
}

async function writeAlone(seconds: number): Promise<void> {
  // While PostgreSQL knows nothing of young tables it may choose a bad plan.
  await clients[0]?.query("ANALYZE events, runs, queue, calls");
  const measureFrom = performance.now() + WARM_UP_MS;
  const endAt = measureFrom + seconds * 1_000;
  let written = 0;
  async function work(client: Client): Promise<void> {
    let open: Run[] = [];
    for (let now = performance.now(); now < endAt; now = performance.now()) {
      if (open.length < endedAtOnce) {
        const runs = Array.from({ length: begunAtOnce }, () => newRun(DATA));
        await begin(client, runs);
        open = [...open, ...runs];
      } else {
        await end(client, open.splice(0, endedAtOnce));
        if (now >= measureFrom) written += endedAtOnce;
      }
    }
    await client.end();
  }
  await Promise.all(clients.map(work));
  console.log(JSON.stringify({ events: written, seconds } satisfies FloorResult));
}

interface Batch {
  runs: Run[];
  answer(): void;
}

function serve({ origin, atOnce, path, headers, body }: FloorCall): void {
  const agent = new Agent({ connections: atOnce });
  const free = [...clients];
  const sent: Batch[] = [];
  const toCall: Run[] = [];
  const called: Run[] = [];
  let calls = 0;

  /** Groups of the sizes asked for; smaller ones only when nothing else would go on. */
  function write(): void {
    while (free.length > 0 && (sent.length > 0 || called.length >= endedAtOnce || (called.length > 0 && free.length === clients.length))) {
      const client = free.pop() as Client;
      const batches = takeBatches();
      const runs = batches.flatMap((batch) => batch.runs);
      const written = runs.length > 0 ? begin(client, runs) : end(client, called.splice(0, endedAtOnce));
      void written.then(() => {
        free.push(client);
        for (const { answer } of batches) answer();
        toCall.push(...runs);
        callApp();
        write();
      });
    }
  }

  function takeBatches(): Batch[] {
    let [count, runs] = [0, 0];
    for (; count < sent.length && runs < begunAtOnce; count++) runs += sent[count]?.runs.length ?? 0;
    return sent.splice(0, count);
  }

  function callApp(): void {
    for (; calls < atOnce && toCall.length > 0; calls++) void callFor(toCall.shift() as Run);
  }

  async function callFor(run: Run): Promise<void> {
    const response = await agent.request({ origin, path, method: "POST", headers, body });
    run.answer = await response.body.text();
    calls--;
    called.push(run);
    callApp();
    setImmediate(write);
  }

  const server = createServer((request, response) =>
    onJson(request, (body) => {
      const runs = (body as { data: unknown }[]).map(({ data }) => newRun(JSON.stringify(data)));
      sent.push({ runs, answer: () => response.end(JSON.stringify({ ids: runs.map(({ id }) => id), status: 200 })) });
      setImmediate(write);
    }),
  );
  listen(server);
}
