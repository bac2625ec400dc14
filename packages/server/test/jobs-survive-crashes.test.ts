/**
 * A job goes on after SIGKILL, with no item done twice and none left out: on the embedded store after a restart, on PostgreSQL on another
 * node, once the lease of the dead one is over. It is killed while its items are worked on, and while they are found.
 */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { startApp } from "./support/app.ts";
import { type Node, startNode } from "./support/nodes.ts";
import { migratedDatabase, whyNoPostgres } from "./support/postgres.ts";
import { until } from "./support/runs.ts";
import { temporaryFolder } from "./support/service.ts";

const EVENTS = 120;
const KILLED_AT = [20, 60];
/** Many pages of the list. */
const LONG_LIST = 20_000;
const BATCH = 5_000;

test("sqlite: jobs that were killed while items were found and worked on go on after each restart; an erasure says that it cannot", async (t) => {
  const place = ["--data-dir", temporaryFolder(t)];
  let node = await startNode(t, place);
  await sendLongList(node);
  const job = await beginJob(t, node);
  const walked: string[] = [];
  for (const done of KILLED_AT) {
    await reached(node, job, done);
    walked.push(await beginWalk(node, walked.length === 0 ? "events.replay" : "events.erase"));
    await node.end("SIGKILL");
    node = await startNode(t, place);
  }
  await checkEnd(node, job);
  await checkItems(node, walked[0] as string);
  const erasure = await read(node, walked[1] as string);
  assert.deepEqual([erasure.status, erasure.done], ["failed", 0], "its filter is not stored, so nobody can go on");
  assert.match(erasure.errors[0]?.message ?? "", /this job.s filter is not stored\. Nothing was changed: start the job again\./);
});

test("postgres: another node goes on with jobs whose node was killed", { skip: whyNoPostgres() ?? false }, async (t) => {
  const place = ["--database-url", await migratedDatabase(t)];
  const [one, two] = [await startNode(t, place), await startNode(t, place)];
  await sendLongList(one);
  const job = await beginJob(t, one);
  await reached(one, job, KILLED_AT[0] as number);
  const walked = await beginWalk(one, "events.replay");
  await one.end("SIGKILL");
  const before = (await read(two, job)).done;
  assert.ok(before < EVENTS, "it was killed in the middle");
  await checkEnd(two, job);
  await checkItems(two, walked);
});

async function sendLongList(node: Node): Promise<void> {
  for (let sent = 0; sent < LONG_LIST; sent += BATCH) await send(node, "shop/list", BATCH);
}

/** A job with some of its items, of which none is worked on: no response is awaited. Another one if all were found before it was seen. */
async function beginWalk(node: Node, kind: "events.replay" | "events.erase"): Promise<string> {
  const body = { kind, filter: { name: "shop/list" }, rate: 1 };
  return until("a job whose items are being found", async () => {
    const before = (await node.rest("GET", "/jobs")).body.data.length;
    void node.rest("POST", "/jobs", { body }).catch(() => null);
    const { id, total } = await until("some of the items", async () => {
      const { data } = (await node.rest("GET", "/jobs")).body;
      return data.length > before ? data[0] : undefined;
    });
    if (total < LONG_LIST) return id as string;
    await node.rest("POST", `/jobs/${id}/cancel`);
    return undefined;
  });
}

async function checkItems(node: Node, id: string): Promise<void> {
  await send(node, "shop/list", 1);
  const { total } = await until("all items", async () => {
    const job = await read(node, id);
    return job.status === "running" ? job : undefined;
  });
  assert.equal(total, LONG_LIST);
}

/** The app stays where it is. Its function is paused: runs are what counts here, not their calls. */
async function beginJob(t: TestContext, node: Node): Promise<string> {
  await startApp(t, node, (inlet) => [inlet.createFunction({ id: "note" }, { event: "shop/note" }, () => undefined)]);
  await node.rest("POST", "/functions/shop-note/pause");
  await send(node, "shop/note", EVENTS);
  const body = { kind: "events.replay", filter: { name: "shop/note" }, rate: 10 };
  const made = await node.rest("POST", "/jobs", { body });
  assert.equal(made.status, 202, made.text);
  return made.body.data.id;
}

async function send(node: Node, name: string, count: number): Promise<void> {
  const events = Array.from({ length: count }, (_, n) => ({ name, data: { n } }));
  const sent = await node.send(events);
  assert.equal(sent.status, 200, sent.text);
}

interface ShownJob {
  total: number;
  done: number;
  failed: number;
  status: string;
  endedAt: string | null;
  errors: { message: string }[];
}

async function read(node: Node, id: string): Promise<ShownJob> {
  return (await node.rest("GET", `/jobs/${id}`)).body.data;
}

async function reached(node: Node, id: string, done: number): Promise<void> {
  await until(`${done} items`, async () => ((await read(node, id)).done >= done ? true : undefined));
}

async function checkEnd(node: Node, id: string): Promise<void> {
  const job = await until("the end of the job", async () => {
    const now = await read(node, id);
    return now.endedAt === null ? undefined : now;
  });
  assert.deepEqual([job.status, job.done, job.failed], ["completed", EVENTS, 0]);
  const started: { job: string | null; event: { id: string } }[] = [];
  let cursor = "";
  do {
    const { body } = await node.rest("GET", `/runs?limit=100${cursor && `&cursor=${cursor}`}`);
    started.push(...body.data);
    cursor = body.page.next ?? "";
  } while (cursor !== "");
  const byJob = started.filter((run) => run.job === id);
  assert.equal(started.length, 2 * EVENTS);
  assert.equal(byJob.length, EVENTS);
  assert.equal(new Set(byJob.map(({ event }) => event.id)).size, EVENTS, "each event once");
}
