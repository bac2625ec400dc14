/**
 * A provider sent 80 requests and lost 6 of them. Its list is doubled and out of order, it is slow, rate-limited and fails, and the nodes
 * that ask for it are killed while they list and while they work: 80 events are stored, each once.
 */

import assert from "node:assert/strict";
import { test } from "./support/both-stores.ts";
import { type Node, startNode } from "./support/nodes.ts";
import { migratedDatabase } from "./support/postgres.ts";
import { type Asked, type ProviderResponse, sourceOf, startProvider } from "./support/provider.ts";
import { until } from "./support/runs.ts";
import { call, temporaryFolder } from "./support/service.ts";

const SENT = 80;
const LOST = 6;
const PAGE = 8;
const SENDERS = 10;
const TRANSFORM = "(evt) => ({ name: 'shop/sale', id: evt.id, data: evt })";

interface Pass {
  listed: number;
  recovered: number;
  seen: number;
  failed: number;
  error: string | null;
}

test("80 sent, 6 never delivered: 80 are stored, each once, though nodes are killed while they list and work", async (t, store) => {
  const flags = store === "sqlite" ? ["--data-dir", temporaryFolder(t)] : ["--database-url", await migratedDatabase(t)];
  const start = () => startNode(t, [...flags, "--job-rate", "15"]);
  const nodes = await Promise.all(store === "sqlite" ? [start()] : [start(), start()]);
  const items = Array.from({ length: SENT }, (_, n) => ({ id: `sale-${n}` }));
  const isLost = (n: number) => n % 13 === 5 && Math.floor(n / 13) < LOST;
  assert.equal(items.filter((_, n) => isLost(n)).length, LOST);
  const { answer, listed } = hostileList(items);
  const provider = await startProvider(t, answer);

  const body = { name: "shop", transform: TRANSFORM, reconcile: { source: sourceOf(provider), every: "30d" } };
  const made = await first(nodes).rest("POST", "/webhooks", { body });
  assert.equal(made.status, 201, made.text);
  const { id, url } = made.body.data;
  await deliver(
    url,
    items.filter((_, n) => !isLost(n)),
  );

  const ordered = await first(nodes).rest("POST", `/webhooks/${id}/reconcile`, { body: { since: 0 } });
  const again = await first(nodes).rest("POST", `/webhooks/${id}/reconcile`, { body: { since: 0 } });
  const jobIds = [ordered, again].map(({ body: { data } }) => data.id as string);
  const job = async () => (await first(nodes).rest("GET", `/jobs/${jobIds[0]}`)).body.data;

  await until("the third page", () => (provider.asked.length >= 3 ? true : undefined));
  await killFirst(nodes, start);
  await until("items that were worked on", async () => ((await job()).done > 30 ? true : undefined));
  if (store === "sqlite") await killFirst(nodes, start);
  for (const jobId of jobIds) {
    await until(`the end of ${jobId}`, async () =>
      (await first(nodes).rest("GET", `/jobs/${jobId}`)).body.data.endedAt ? true : undefined,
    );
  }
  const { total, done, failed, status } = await job();
  assert.deepEqual([total, done, failed, status], [listed, listed, 0, "completed"]);
  const passes = (await first(nodes).rest("GET", `/webhooks/${id}/reconciliations`)).body.data as Pass[];
  assert.deepEqual(
    passes.map((pass) => [pass.listed, pass.seen, pass.recovered, pass.failed, pass.error]),
    [
      [listed, listed, 0, 0, null],
      [listed, listed - LOST, LOST, 0, null],
    ],
  );
  const ids = await storedIds(first(nodes));
  assert.equal(ids.length, SENT);
  assert.deepEqual([...new Set(ids)].sort(), items.map((item) => item.id).sort());
  assert.equal(await recovered(first(nodes)), LOST);
});

/** Doubled items, out of order; now and then a page is refused first. */
function hostileList(items: readonly { id: string }[]): { answer: (asked: Asked) => ProviderResponse; listed: number } {
  const list = [...items.filter((_, n) => n % 7 === 3), ...items].sort((a, b) => hash(a.id) - hash(b.id));
  let asked = 0;
  return {
    listed: list.length,
    answer({ url }) {
      if (++asked % 5 === 0) return { status: asked % 2 === 0 ? 429 : 503, headers: { "retry-after": "0" } };
      const page = Number(url.searchParams.get("page"));
      const next = (page + 1) * PAGE < list.length ? page + 1 : undefined;
      return { body: { items: list.slice(page * PAGE, (page + 1) * PAGE), next } };
    },
  };
}

function hash(text: string): number {
  return [...text].reduce((sum, character) => (sum * 31 + character.charCodeAt(0)) % 1_009, 7);
}

async function deliver(url: string, items: readonly object[]): Promise<void> {
  const left = [...items];
  const send = async () => {
    for (let item = left.pop(); item; item = left.pop()) {
      const { status } = await call(url, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(item) });
      assert.equal(status, 200);
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, send));
}

/** Of two nodes, the other goes on. A lone one is started again. */
async function killFirst(nodes: Node[], start: () => Promise<Node>): Promise<void> {
  await (nodes.shift() as Node).end("SIGKILL");
  if (nodes.length === 0) nodes.push(await start());
}

function first(nodes: readonly Node[]): Node {
  return nodes[0] as Node;
}

async function storedEvents(node: Node): Promise<{ dedupId: string; reconciled?: boolean }[]> {
  const events = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const { body } = await node.rest("GET", `/events?name=shop/sale&limit=100${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
    events.push(...body.data);
    cursor = body.page.next;
  }
  return events;
}

async function storedIds(node: Node): Promise<string[]> {
  return (await storedEvents(node)).map(({ dedupId }) => dedupId);
}

async function recovered(node: Node): Promise<number> {
  return (await storedEvents(node)).filter(({ reconciled }) => reconciled).length;
}
