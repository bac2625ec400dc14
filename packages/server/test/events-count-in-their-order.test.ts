/**
 * Events that are sent one after the other, each once the one before it is accepted, count in this order: in batches, for a debounce and
 * in streams, however many others arrive meanwhile, and on whichever nodes.
 */

import assert from "node:assert/strict";
import { type TestContext, test as testOnce } from "node:test";
import { poll, startApp } from "./support/app.ts";
import { test } from "./support/both-stores.ts";
import { everyNodeKnows, startNode } from "./support/nodes.ts";
import { onEnd } from "./support/on-end.ts";
import { migratedDatabase, whyNoPostgres } from "./support/postgres.ts";
import { API_KEY, type ServiceClient, startTestService } from "./support/service.ts";

const EVENTS = 30;
const BATCH = 5;
const OTHER_SENDERS = 4;
const NUMBERS = Array.from({ length: EVENTS }, (_, n) => n);
/** All are dated alike, so that only their order tells which is the last. */
const TS = Date.now();

interface Data {
  key: string;
  n: number;
}

const numbersOf = (events: readonly { data: unknown }[]) => events.map(({ data }) => (data as Data).n);

/** What the functions were given: batches, and events that ended a debounce. */
async function startFunctions(t: TestContext, service: ServiceClient, maxSize: number) {
  const batches: number[][] = [];
  const settled: number[] = [];
  const key = "event.data.key";
  await startApp(t, service, (inlet) => [
    inlet.createFunction({ id: "batch", batchEvents: { maxSize, timeout: "1h", key } }, { event: "order/go" }, ({ events, event }) => {
      if ((event.data as Data).key === "ours") batches.push(numbersOf(events));
    }),
    inlet.createFunction({ id: "last", debounce: { period: "2s", key } }, { event: "order/go" }, ({ event }) => {
      if ((event.data as Data).key === "ours") settled.push((event.data as Data).n);
    }),
  ]);
  return { batches, settled };
}

/** Resolves once others have sent, and stops them. */
async function amidOthers(nodes: readonly ServiceClient[], work: () => Promise<void>): Promise<void> {
  let isOver = false;
  const others = Array.from({ length: OTHER_SENDERS }, async (_, sender) => {
    for (let n = 0; !isOver; n++) await send(nodes[n % nodes.length] as ServiceClient, { key: `other ${sender}`, n });
  });
  await work().finally(() => (isOver = true));
  await Promise.all(others);
}

async function send(node: ServiceClient, data: Data): Promise<void> {
  const { status, text } = await node.send({ name: "order/go", data, ts: TS });
  assert.equal(status, 200, text);
}

/** The numbers of our events, as a stream tells of them. */
async function openStream(t: TestContext, node: ServiceClient, query = ""): Promise<() => Promise<number[]>> {
  const controller = new AbortController();
  onEnd(t, () => controller.abort());
  const headers = { authorization: `Bearer ${API_KEY}` };
  const response = await fetch(`${node.url}/v1/events/stream${query}`, { headers, signal: controller.signal });
  const reader = (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
  let text = (await reader.read()).value ?? "";
  return async () => {
    const numbers = () => [...text.matchAll(/^data: .*"key":"ours","n":(\d+)/gm)].map(([, n]) => Number(n));
    while (numbers().length < EVENTS) {
      const { done, value } = await reader.read();
      assert.ok(!done, "the stream ended");
      text += value;
    }
    return numbers();
  };
}

test("on one node, they count in the order in which they were accepted", async (t) => {
  const service = await startTestService(t);
  const { batches, settled } = await startFunctions(t, service, BATCH);
  const streamed = await openStream(t, service);
  await amidOthers([service], async () => {
    for (const n of NUMBERS) await send(service, { key: "ours", n });
  });
  await poll(async () => (batches.length === EVENTS / BATCH ? true : null), "all batches");
  const inOrder = batches.toSorted(([one = 0], [other = 0]) => one - other);
  assert.deepEqual(
    inOrder,
    Array.from({ length: EVENTS / BATCH }, (_, n) => NUMBERS.slice(n * BATCH, (n + 1) * BATCH)),
  );
  assert.deepEqual(await streamed(), NUMBERS);
  await poll(async () => (settled.at(-1) === EVENTS - 1 ? true : null), "the last event");
});

const skip = whyNoPostgres() ?? false;

testOnce("on two nodes in turn, a batch has them in their order, and so has a stream", { skip }, async (t) => {
  const store = ["--database-url", await migratedDatabase(t)];
  const nodes = await Promise.all([startNode(t, store), startNode(t, store)]);
  const { batches, settled } = await startFunctions(t, nodes[0], EVENTS);
  await everyNodeKnows(nodes, 2);
  const streamed = await openStream(t, nodes[1]);
  await amidOthers(nodes, async () => {
    for (const n of NUMBERS) await send(nodes[n % 2] as ServiceClient, { key: "ours", n });
  });
  await poll(async () => (batches.length > 0 ? true : null), "the batch");
  assert.deepEqual(batches, [NUMBERS]);
  assert.deepEqual(await streamed(), NUMBERS);
  const again = await openStream(t, nodes[0], `?from=${encodeURIComponent(new Date(TS).toISOString())}`);
  assert.deepEqual(await again(), NUMBERS, "from the beginning again");
  await poll(async () => (settled.at(-1) === EVENTS - 1 ? true : null), "the last event");
});
