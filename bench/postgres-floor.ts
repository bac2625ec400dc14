/**
 * What PostgreSQL itself can do: the rows of our events, inserted by bare `pg` clients in groups of a given size. The database was
 * made by Inlet itself, so the table, its indexes and its partitions are the very same. The statement is prepared once; there is no
 * duplicate check, and nobody is told of the events.
 *
 *   node bench/postgres-floor.ts alone <database url> <rows> <seconds> <clients>   inserts as fast as it can; prints a line of JSON
 *   node bench/postgres-floor.ts http <database url> <rows>                        inserts what is posted to it, and answers as Inlet would
 *
 * `alone` has the machine to itself: nobody sends anything, and each client inserts one group after the other. `http` does what any
 * service has to do that is sent events by HTTP and keeps them in PostgreSQL, and nothing else: it reads and parses a body, inserts a row
 * for each event, and answers. It uses two clients at once, and shares the machine with the same load generator as
 * Inlet, so the two can be set side by side where all of it runs on a few cores.
 */

import { createServer } from "node:http";
import { createEventIdGenerator } from "@inlet/protocol";
import { Client } from "pg";
import { EVENT_DATA } from "./events.ts";
import { answerIds, countEvents, listen, onJson } from "./loopback-server.ts";

export interface FloorResult {
  events: number;
  seconds: number;
}

/** While PostgreSQL writes one group to disk, the next is sent. */
const CLIENTS_BY_HTTP = 2;
const WARM_UP_MS = 1_000;
const INSERT = `
  INSERT INTO events (sequence, environment_id, event_id, name_id, ts, received_at, source_no, data)
  SELECT nextval('event_sequence'), e.environment_id, e.id, e.name_id, e.ts, e.received_at, e.source_no, e.data
  FROM unnest($1::integer[], $2::text[], $3::integer[], $4::bigint[], $5::bigint[], $6::integer[], $7::text[])
    AS e(environment_id, id, name_id, ts, received_at, source_no, data)`;

const [how, url = "", rows = "1", seconds = "5", count = "1"] = process.argv.slice(2);
const ids = createEventIdGenerator();
const clients = await Promise.all(Array.from({ length: how === "alone" ? Number(count) : CLIENTS_BY_HTTP }, connected));
if (how === "alone") await insertAlone(Number(rows), Number(seconds));
else serve(Number(rows));

async function connected(): Promise<Client> {
  const client = new Client({ connectionString: url });
  await client.connect();
  return client;
}

/** Returns the ids of the events. */
async function insert(client: Client, count: number): Promise<string[]> {
  const now = Date.now();
  const all = <Value>(value: Value) => Array<Value>(count).fill(value);
  const newIds = Array.from({ length: count }, () => ids.next(now));
  await client.query({ name: "insert", text: INSERT, values: [all(1), newIds, all(1), all(now), all(now), all(1), all(EVENT_DATA)] });
  return newIds;
}

async function insertAlone(size: number, forSeconds: number): Promise<void> {
  const measureFrom = performance.now() + WARM_UP_MS;
  const endAt = measureFrom + forSeconds * 1_000;
  let events = 0;
  async function work(client: Client): Promise<void> {
    for (let now = performance.now(); now < endAt; now = performance.now()) {
      await insert(client, size);
      if (now >= measureFrom) events += size;
    }
    await client.end();
  }
  await Promise.all(clients.map(work));
  console.log(JSON.stringify({ events, seconds: forSeconds } satisfies FloorResult));
}

interface Waiting {
  count: number;
  answer(ids: readonly string[]): void;
}

function serve(size: number): void {
  const free = [...clients];
  const waiting: Waiting[] = [];
  let waitingRows = 0;

  /** Groups of the size asked for; smaller ones only when nothing else would go on. */
  function write(): void {
    while (waiting.length > 0 && free.length > 0 && (waitingRows >= size || free.length === clients.length)) {
      const group: Waiting[] = [];
      let count = 0;
      for (let next = waiting.shift(); next; next = count < size ? waiting.shift() : undefined) {
        group.push(next);
        count += next.count;
      }
      waitingRows -= count;
      void writeGroup(free.pop() as Client, group, count);
    }
  }

  async function writeGroup(client: Client, group: readonly Waiting[], count: number): Promise<void> {
    const newIds = await insert(client, count);
    free.push(client);
    let at = 0;
    for (const { count: own, answer } of group) {
      answer(newIds.slice(at, at + own));
      at += own;
    }
    write();
  }

  const server = createServer((request, response) =>
    onJson(request, (body) => {
      const count = countEvents(body);
      waitingRows += count;
      waiting.push({ count, answer: (newIds) => answerIds(response, newIds) });
      setImmediate(write);
    }),
  );
  listen(server);
}
