/**
 * An environment is moved to another database and back while two nodes accept its events and run its functions: every event is stored
 * once and seen by a stream, every step runs once, and what is refused at the switch can be sent again.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { poll, startApp } from "./support/app.ts";
import { type Node, startNode } from "./support/nodes.ts";
import { freshDatabase, migratedDatabase, whyNoPostgres } from "./support/postgres.ts";
import { type Answer, API_KEY } from "./support/service.ts";

const skip = whyNoPostgres() ?? false;
const HERE = { "x-service-env": "moving" };
const PATIENT_MS = 300_000;
/** Orders that are sent before earlier ones have run: however long a move takes, what is left to run after it is little. */
const AHEAD_MAX = 8;

test("an environment moves there and back while it is used", { skip }, async (t) => {
  // No node dies: on a machine that stands still for as long as a usual lease, none is lost either.
  const flags = ["--database-url", await migratedDatabase(t), "--lease", "10m"];
  const nodes = [await startNode(t, flags), await startNode(t, flags)] as const;
  const [node] = nodes;
  await ok(node.rest("POST", "/databases", { body: { name: "second", url: await freshDatabase(t) } }), 201);
  await ok(node.rest("POST", "/environments", { body: { name: "moving" } }), 201);
  const { key } = (await ok(node.rest("POST", "/keys", { body: { kind: "event", name: "k" }, headers: HERE }), 201)).body.data;
  const steps = new Map<string, number>();
  const ran = (name: string) => void steps.set(name, (steps.get(name) ?? 0) + 1);
  await startApp(
    t,
    node,
    (client) => [
      client.createFunction({ id: "order", concurrency: { fn: [{ limit: 5 }] } }, { event: "shop/order" }, async ({ event, step }) => {
        await step.run("one", () => ran(`one ${event.data.n}`));
        await step.sleep("rest", "100ms");
        await step.waitForEvent("paid", { event: "shop/paid", if: "async.data.n == event.data.n", timeout: "1s" });
        await step.run("two", () => ran(`two ${event.data.n}`));
      }),
    ],
    { id: "shop", environment: "moving" },
  );
  await poll(async () => {
    const known = await Promise.all(nodes.map((one) => one.rest("GET", "/functions", { headers: HERE })));
    return known.every(({ body }) => body.data?.length === 1) ? true : null;
  }, "the functions on both nodes");
  const seen = await follow(t, node);

  const sender = startSender(nodes, key, (n) => !steps.has(`two ${n}`));
  // Also if the test fails: it would wait for runs that nobody works on.
  t.after(() => sender.stop().catch(() => undefined));
  await sender.more(5);
  for (const database of ["second", "directory"]) {
    const started = await ok(node.rest("POST", "/environments/moving/move", { body: { database } }), 202);
    assert.equal(started.body.data.kind, "environments.move");
    const again = await node.rest("POST", "/environments/moving/move", { body: { database } });
    assert.ok([409, 400].includes(again.status), "one move at a time");
    const job = await poll(
      async () => {
        const { body } = await node.rest("GET", `/jobs/${started.body.data.id}`, { headers: HERE });
        return body.data?.endedAt ? body.data : null;
      },
      "the end of the move",
      PATIENT_MS,
    );
    assert.deepEqual([job.status, job.done === job.total], ["completed", true], JSON.stringify(job));
    const place = (await ok(node.rest("GET", "/environments/moving"), 200)).body.data.database;
    assert.equal(place, database);
    await sender.more(5);
  }
  const sent = await sender.stop();

  await poll(async () => ((await endedRuns(node)) >= sent.length ? true : null), "the runs", PATIENT_MS);
  assert.deepEqual(
    [...steps].filter(([, times]) => times !== 1),
    [],
    "every step ran once",
  );
  assert.equal(steps.size, 2 * sent.length);
  await poll(async () => (sent.every((id) => seen().includes(id)) ? true : null), "the stream", PATIENT_MS);
  assert.equal(seen().length, new Set(seen()).size, "the stream tells of each event once");
  const listed = await allEvents(node);
  for (const id of sent) assert.equal(listed.filter((one) => one === id).length, 1, "every event is stored once");
  assert.equal(listed.length, 2 * sent.length, "an order and a payment for each");
  assert.equal((await node.rest("POST", "/environments/moving/move", { body: { database: "none" } })).status, 404);
});

async function ok(answer: Promise<Answer>, status: number): Promise<Answer> {
  const given = await answer;
  assert.equal(given.status, status, given.text);
  return given;
}

/** Sends an order and its payment, again and again, through both nodes. What is refused is sent again with the same ids. */
function startSender(nodes: readonly [Node, Node], key: string, isUnfinished: (n: number) => boolean) {
  const ids: string[] = [];
  let isStopping = false;
  const accepted = async (event: { name: string; id: string; data: object }, n: number): Promise<string> => {
    for (let tries = 0; ; tries++) {
      const answer = await (nodes[(n + tries) % 2] as Node).send(event, { key });
      if (answer.status === 200) return answer.body.ids[0];
      assert.equal(answer.status, 503, answer.text);
      assert.ok(Number(answer.headers.get("retry-after")) >= 1);
      await pause(20);
    }
  };
  const run = async () => {
    for (let n = 0; !isStopping; n++) {
      while (n >= AHEAD_MAX && isUnfinished(n - AHEAD_MAX) && !isStopping) await pause(20);
      ids.push(await accepted({ name: "shop/order", id: `order ${n}`, data: { n } }, n));
      await accepted({ name: "shop/paid", id: `paid ${n}`, data: { n } }, n + 1);
      await pause(50);
    }
  };
  const running = run();
  running.catch(() => undefined);
  return {
    async more(count: number) {
      const wanted = ids.length + count;
      while (ids.length < wanted) await Promise.race([pause(10), running]);
    },
    async stop(): Promise<string[]> {
      isStopping = true;
      await running;
      return ids;
    },
  };
}

/**
 * The ids of the events that streams of one node told of. A stream that ends, such as when a read takes too long, is resumed after the last
 * whole message, as browsers do it.
 */
async function follow(t: { after(fn: () => void): void }, { url }: Node): Promise<() => string[]> {
  const controller = new AbortController();
  const { signal } = controller;
  let text = "";
  const open = async () => {
    text = text.slice(0, text.lastIndexOf("\n\n") + 2);
    const last = [...text.matchAll(/^id: (\S+)$/gm)].at(-1)?.[1];
    const headers = { authorization: `Bearer ${API_KEY}`, ...HERE, ...(last && { "last-event-id": last }) };
    const response = await fetch(`${url}/v1/events/stream?from=0`, { headers, signal });
    assert.equal(response.status, 200);
    return response;
  };
  const read = async (response: Response) => {
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) text += decoder.decode(chunk as Uint8Array, { stream: true });
  };
  const readAll = async (first: Response) => {
    await read(first).catch(() => undefined);
    while (!signal.aborted) {
      await pause(100);
      await open()
        .then(read)
        .catch(() => undefined);
    }
  };
  void readAll(await open());
  t.after(() => controller.abort());
  return () => [...text.matchAll(/^data: \{"id":"([0-9A-Z]{26})"/gm)].map(([, id]) => id as string);
}

async function endedRuns(node: Node): Promise<number> {
  let ended = 0;
  for (let cursor = ""; ; ) {
    const { body } = await node.rest("GET", `/runs?limit=100&status=completed${cursor && `&cursor=${cursor}`}`, { headers: HERE });
    ended += body.data.length;
    if (!body.page.next) return ended;
    cursor = encodeURIComponent(body.page.next);
  }
}

async function allEvents(node: Node): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor = ""; ; ) {
    const { body } = await node.rest("GET", `/events?limit=100${cursor && `&cursor=${cursor}`}`, { headers: HERE });
    ids.push(...body.data.filter(({ name }: { name: string }) => name.startsWith("shop/")).map(({ id }: { id: string }) => id));
    if (!body.page.next) return ids;
    cursor = encodeURIComponent(body.page.next);
  }
}
