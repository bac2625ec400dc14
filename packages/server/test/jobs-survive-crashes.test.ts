/**
 * A job goes on after SIGKILL in its middle, with no item done twice and none left out: on the embedded store after a restart, on
 * PostgreSQL on another node, once the lease of the dead one is over.
 */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { startApp } from "./support/app.ts";
import { freshDatabase, whyNoPostgres } from "./support/postgres.ts";
import { type InletProcess, startInlet } from "./support/process.ts";
import { until } from "./support/runs.ts";
import { API_KEY, call, EVENT_KEY, SIGNING_KEY, type TestService, temporaryFolder } from "./support/service.ts";

const EVENTS = 120;
const KILLED_AT = [20, 60];

test("sqlite: a job that was killed twice goes on after each restart", async (t) => {
  const place = ["--data-dir", temporaryFolder(t)];
  let node = await startNode(t, place);
  const job = await beginJob(t, node);
  for (const done of KILLED_AT) {
    await reached(node, job, done);
    await node.end("SIGKILL");
    node = await startNode(t, place);
  }
  await checkEnd(node, job);
});

test("postgres: another node goes on with a job whose node was killed", { skip: whyNoPostgres() ?? false }, async (t) => {
  const place = ["--database-url", await freshDatabase(t)];
  const [one, two] = [await startNode(t, place), await startNode(t, place)];
  const job = await beginJob(t, one);
  await reached(one, job, KILLED_AT[0] as number);
  await one.end("SIGKILL");
  const before = (await read(two, job)).done;
  assert.ok(before < EVENTS, "it was killed in the middle");
  await checkEnd(two, job);
});

function startNode(t: TestContext, place: readonly string[]): Promise<InletProcess> {
  const keys = ["--event-key", EVENT_KEY, "--api-key", API_KEY, "--signing-key", SIGNING_KEY];
  return startInlet(t, ["start", "--port", "0", "--host", "127.0.0.1", "--log-level", "error", ...place, ...keys]);
}

/** The app stays where it is. Its function is paused: runs are what counts here, not their calls. */
async function beginJob(t: TestContext, node: InletProcess): Promise<string> {
  await startApp(t, restOf(node), (inlet) => [inlet.createFunction({ id: "note" }, { event: "shop/note" }, () => undefined)]);
  await restOf(node).rest("POST", "/functions/shop-note/pause");
  const events = Array.from({ length: EVENTS }, (_, n) => ({ name: "shop/note", data: { n } }));
  const sent = await call(`${node.url}/e/${EVENT_KEY}`, { method: "POST", body: JSON.stringify(events) });
  assert.equal(sent.status, 200, sent.text);
  const body = { kind: "events.replay", filter: { name: "shop/note" }, rate: 60 };
  const made = await restOf(node).rest("POST", "/jobs", { body });
  assert.equal(made.status, 202, made.text);
  return made.body.data.id;
}

async function read(node: InletProcess, id: string): Promise<{ done: number; failed: number; status: string; endedAt: string | null }> {
  return (await restOf(node).rest("GET", `/jobs/${id}`)).body.data;
}

async function reached(node: InletProcess, id: string, done: number): Promise<void> {
  await until(`${done} items`, async () => ((await read(node, id)).done >= done ? true : undefined));
}

async function checkEnd(node: InletProcess, id: string): Promise<void> {
  const job = await until("the end of the job", async () => {
    const now = await read(node, id);
    return now.endedAt === null ? undefined : now;
  });
  assert.deepEqual([job.status, job.done, job.failed], ["completed", EVENTS, 0]);
  const started: { job: string | null; event: { id: string } }[] = [];
  let cursor = "";
  do {
    const { body } = await restOf(node).rest("GET", `/runs?limit=100${cursor && `&cursor=${cursor}`}`);
    started.push(...body.data);
    cursor = body.page.next ?? "";
  } while (cursor !== "");
  const byJob = started.filter((run) => run.job === id);
  assert.equal(started.length, 2 * EVENTS);
  assert.equal(byJob.length, EVENTS);
  assert.equal(new Set(byJob.map(({ event }) => event.id)).size, EVENTS, "each event once");
}

function restOf({ url }: InletProcess): TestService {
  const rest: TestService["rest"] = (method, path, { body, headers } = {}) =>
    call(`${url}/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${API_KEY}`, ...(body !== undefined && { "content-type": "application/json" }), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  return { url, rest } as TestService;
}
