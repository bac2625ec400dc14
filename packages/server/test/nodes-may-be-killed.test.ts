/**
 * Any node may die at any moment. Three real processes share one PostgreSQL; senders keep them busy, and one after the other is
 * killed with SIGKILL at a random moment and started again. Every event that was acknowledged is there, once, although senders
 * repeat what they got no response for on another node; and it has started its function once, which ran to its end.
 * KILLS=50 runs it for longer; KILL_SEED repeats the moments.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { poll, startApp } from "./support/app.ts";
import { everyNodeKnows, type Node, startNode } from "./support/nodes.ts";
import { migratedDatabase, whyNoPostgres } from "./support/postgres.ts";

const skip = whyNoPostgres() ?? false;
const KILLS = Number(process.env.KILLS ?? 1);
const SEED = Number(process.env.KILL_SEED ?? Math.floor(Math.random() * 2 ** 31));
const LIFE_MS_MAX = 500;
const SENDERS = 6;
/** Between two events of a sender: enough of them are under way at each kill, and every one is looked for afterwards. */
const PAUSE_MS = 50;
const NODES = 3;

test(`kills among ${NODES} nodes lose nothing and repeat nothing: ${KILLS}`, { skip }, async (t) => {
  t.diagnostic(`KILL_SEED=${SEED}`);
  const random = randomFrom(SEED);
  const store = ["--database-url", await migratedDatabase(t)];
  const nodes = await Promise.all(Array.from({ length: NODES }, () => startNode(t, store)));
  const seen = new Map<string, number>();
  await startApp(t, nodes[0] as Node, (inlet) => [
    inlet.createFunction({ id: "note" }, { event: "shop/note" }, async ({ event, step }) => {
      await step.run("note", () => void seen.set(String(event.data.label), (seen.get(String(event.data.label)) ?? 0) + 1));
      return event.data.label;
    }),
  ]);
  await everyNodeKnows(nodes, 1);

  const stop = new AbortController();
  t.after(() => stop.abort());
  const acknowledged = new Map<string, string>();
  const senders = Array.from({ length: SENDERS }, (_, n) => sendOn(nodes, n, acknowledged, stop.signal));
  for (let kill = 0; kill < KILLS; kill++) {
    const before = acknowledged.size;
    await poll(async () => (acknowledged.size > before + 20 ? true : null), "load");
    await sleep(random() * LIFE_MS_MAX);
    const victim = Math.floor(random() * NODES);
    await nodes[victim]?.end("SIGKILL");
    nodes[victim] = await startNode(t, store);
  }
  stop.abort();
  await Promise.all(senders);

  const watched = nodes[0] as Node;
  const stored = await everyEvent(watched);
  for (const [label, id] of acknowledged) assert.equal(stored.get(label)?.join(), id, `the event ${label} (KILL_SEED=${SEED})`);
  for (const [label, ids] of stored) assert.equal(ids.length, 1, `${label} is stored ${ids.length} times (KILL_SEED=${SEED})`);
  // What a dead node held is taken up when its lease is over.
  const started = await poll(() => endedRuns(watched, stored.size), `the runs (KILL_SEED=${SEED})`, 600_000);
  assert.deepEqual(started.sort(), [...stored.values()].flat().sort(), `each event started one run (KILL_SEED=${SEED})`);
  // A node calls an app at most a hundred times at once: what it called when it was killed is called again.
  const repeated = [...seen.values()].filter((count) => count > 1).length;
  assert.ok(repeated <= KILLS * 100, `${repeated} steps ran more than once`);
});

/** Sends one event after the other; without a response it is sent again, to the next node, with the same id. */
async function sendOn(nodes: readonly Node[], sender: number, acknowledged: Map<string, string>, signal: AbortSignal): Promise<void> {
  for (let n = 0; !signal.aborted; n++) {
    const label = `${sender}-${n}`;
    const event = { name: "shop/note", id: label, data: { label } };
    for (let tries = sender; !acknowledged.has(label); tries++) {
      const answer = await (nodes[tries % NODES] as Node).send(event).catch(() => null);
      if (answer?.status === 200) acknowledged.set(label, answer.body.ids[0]);
      await sleep(PAUSE_MS);
    }
  }
}

async function everyEvent(node: Node): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  for (const { id, data } of await listed<{ id: string; data: { label: string } }>(node, "/events?name=shop/note"))
    found.set(data.label, [...(found.get(data.label) ?? []), id]);
  return found;
}

/** The events that started them, if there are so many runs and all are completed. */
async function endedRuns(node: Node, count: number): Promise<string[] | null> {
  for (const status of ["queued", "running"])
    if ((await node.rest("GET", `/runs?status=${status}&limit=1`)).body.data.length > 0) return null;
  const runs = await listed<{ status: string; event: { id: string } }>(node, "/runs?function=shop-note");
  return runs.length >= count && runs.every(({ status }) => status === "completed") ? runs.map(({ event }) => event.id) : null;
}

async function listed<Item>(node: Node, path: string): Promise<Item[]> {
  const items: Item[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const { body } = await node.rest("GET", `${path}&limit=100${cursor && `&cursor=${cursor}`}`);
    items.push(...body.data);
    cursor = body.page.next;
  }
  return items;
}

function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
