/**
 * A limit counts for the whole cluster. Two real processes share one PostgreSQL, both are sent events of the same function, and one of
 * them is stopped in the middle: there are never more runs, or steps, at a time than the function says, and all of them come to their end.
 */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { type AnyFunction, poll, startApp } from "./support/app.ts";
import { everyNodeKnows, type Node, startNode } from "./support/nodes.ts";
import { migratedDatabase, whyNoPostgres } from "./support/postgres.ts";

const skip = whyNoPostgres() ?? false;
const EVENTS = 6;
/** After so many runs one node is stopped. */
const RUNS_WITH_BOTH = 2;
/** One run after the other, each with several calls: on a busy machine, every one of them waits for the processor. */
const DEADLINE_MS = 300_000;

type MakeFunctions = Parameters<typeof startApp>[2];

/** How many are inside at a time. */
class Turnstile {
  most = 0;
  #inside = 0;

  enter(): void {
    this.most = Math.max(this.most, ++this.#inside);
  }

  leave(): void {
    this.#inside--;
  }
}

interface Nodes {
  first: Node;
  second: Node;
}

async function startNodes(t: TestContext, make: MakeFunctions): Promise<Nodes> {
  const store = ["--database-url", await migratedDatabase(t)];
  const [first, second] = await Promise.all([startNode(t, store), startNode(t, store)]);
  await startApp(t, first, make);
  await everyNodeKnows([first, second], 1);
  return { first, second };
}

/** To the one and the other in turn, all at once. */
async function sendToBoth({ first, second }: Nodes): Promise<void> {
  const sent = await Promise.all(
    Array.from({ length: EVENTS }, (_, n) => (n % 2 === 0 ? first : second).send({ name: "shop/go", data: { n } })),
  );
  assert.deepEqual(
    sent.map(({ status }) => status),
    sent.map(() => 200),
  );
}

async function completedRuns(node: Node): Promise<number> {
  return (await node.rest("GET", `/runs?status=completed&limit=${EVENTS}`)).body.data.length;
}

/** Works with both nodes, then with one, until every run is through. */
async function workThrough(nodes: Nodes): Promise<void> {
  await sendToBoth(nodes);
  await poll(async () => ((await completedRuns(nodes.first)) >= RUNS_WITH_BOTH ? true : null), "the first runs", DEADLINE_MS);
  assert.equal(await nodes.first.end("SIGTERM"), 0);
  await poll(async () => ((await completedRuns(nodes.second)) === EVENTS ? true : null), "every run", DEADLINE_MS);
}

test("so many runs of a function at a time as it says, on all nodes together, also while they sleep", { skip }, async (t) => {
  const runs = new Turnstile();
  const make: MakeFunctions = (inlet): AnyFunction[] => [
    inlet.createFunction({ id: "one", concurrency: { fn: [{ limit: 1 }] } }, { event: "shop/go" }, async ({ step }) => {
      await step.run("enter", () => runs.enter());
      await step.sleep("nap", "100ms");
      await step.run("leave", () => runs.leave());
    }),
  ];
  await workThrough(await startNodes(t, make));
  assert.equal(runs.most, 1);
});

test("so many steps of a function at a time as it says, on all nodes together", { skip }, async (t) => {
  const steps = new Turnstile();
  const work = async () => {
    steps.enter();
    // The first waits for another beside it. From then on, a third would find two inside.
    await poll(async () => (steps.most >= 2 ? true : null), "a second step beside the first");
    await new Promise((resolve) => setTimeout(resolve, 20));
    steps.leave();
  };
  const make: MakeFunctions = (inlet): AnyFunction[] => [
    inlet.createFunction({ id: "two", concurrency: { limit: 2 } }, { event: "shop/go" }, async ({ step }) => {
      await Promise.all([step.run("a", work), step.run("b", work), step.run("c", work)]);
    }),
  ];
  await workThrough(await startNodes(t, make));
  assert.equal(steps.most, 2);
});
