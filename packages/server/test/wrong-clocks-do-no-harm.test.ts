/**
 * Among correct nodes, one whose clock is a minute ahead and one whose clock is a minute behind: leases are longer than half a
 * minute, so either would steal work or sleep through it if it went by its own clock. All are real processes.
 */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { openPostgresStore } from "../src/store/postgres/postgres-store.ts";
import { poll, startApp } from "./support/app.ts";
import { freshDatabase, inDatabase, whyNoPostgres } from "./support/postgres.ts";
import { type InletProcess, startInlet } from "./support/process.ts";
import { API_KEY, call, EVENT_KEY, SIGNING_KEY, type TestService, temporaryFolder } from "./support/service.ts";

const skip = whyNoPostgres() ?? false;
const MINUTE_MS = 60_000;
const SKEWS_MS = [0, MINUTE_MS, -MINUTE_MS];
/** What a busy machine may add to a time; far less than the clocks are wrong by. */
const REASON_MS = 10_000;
const DEDUP_MS = 5_000;
const PRELOAD = new URL("./support/skewed-clock.ts", import.meta.url).href;

interface Node extends TestService {
  skewMs: number;
}

/** A node as processes and REST see it. */
async function startNode(t: TestContext, skewMs: number, store: readonly string[]): Promise<Node> {
  const keys = ["--event-key", EVENT_KEY, "--api-key", API_KEY, "--signing-key", SIGNING_KEY];
  const flags = ["--port", "0", "--host", "127.0.0.1", "--log-level", "warn", "--dedup-window", `${DEDUP_MS}ms`, ...keys, ...store];
  const inlet: InletProcess = await startInlet(t, ["start", ...flags], {
    SKEW_MS: String(skewMs),
    NODE_OPTIONS: `--import ${PRELOAD}`,
  });
  const headers = { authorization: `Bearer ${API_KEY}` };
  const rest: TestService["rest"] = (method, path, { body } = {}) =>
    call(`${inlet.url}/v1${path}`, {
      method,
      headers: { ...headers, ...(body !== undefined && { "content-type": "application/json" }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  const send: TestService["send"] = (body) => call(`${inlet.url}/e/${EVENT_KEY}`, { method: "POST", body: JSON.stringify(body) });
  return { url: inlet.url, rest, send, skewMs } as Node;
}

function startNodes(t: TestContext, databaseUrl: string): Promise<Node[]> {
  return Promise.all(SKEWS_MS.map((skewMs) => startNode(t, skewMs, ["--database-url", databaseUrl])));
}

async function everyNodeKnows(nodes: readonly Node[], count: number): Promise<void> {
  for (const node of nodes) {
    await poll(async () => ((await node.rest("GET", "/functions?limit=100")).body.data.length === count ? true : null), "the functions");
  }
}

test("the clock of a process really is wrong, and a node on PostgreSQL does not go by it", { skip }, async (t) => {
  const receivedBy = async (flags: Parameters<typeof startNode>[2]) => {
    const node = await startNode(t, MINUTE_MS, flags);
    const { body } = await node.send({ name: "shop/x", data: {} });
    return Date.parse((await node.rest("GET", `/events/${body.ids[0]}`)).body.data.receivedAt) - Date.now();
  };
  const alone = await receivedBy(["--data-dir", temporaryFolder(t)]);
  assert.ok(Math.abs(alone - MINUTE_MS) < REASON_MS, `with a store of its own it is a minute ahead: ${alone} ms`);
  const shared = await receivedBy(["--database-url", await freshDatabase(t)]);
  assert.ok(Math.abs(shared) < REASON_MS, `${shared} ms`);
});

test("a clock that is set while a node runs changes nothing for it", { skip }, async (t) => {
  const store = await openPostgresStore({ url: await freshDatabase(t), onFault: () => undefined, onRecovery: () => undefined });
  t.after(() => store.stop());
  const right = Date.now;
  t.after(() => {
    Date.now = right;
  });
  for (const setByMs of [3_600_000, -3_600_000]) {
    Date.now = () => right() + setByMs;
    const apart = store.storeNow() - right();
    assert.ok(Math.abs(apart) < REASON_MS, `${apart} ms`);
  }
});

test("events are received at the right time, ids are forgotten after their window, and not before", { skip }, async (t) => {
  const nodes = await startNodes(t, await freshDatabase(t));
  const sent: { id: string; at: number }[] = [];
  for (let n = 0; n < 12; n++) {
    const { ids } = (await (nodes[n % 3] as Node).send({ name: "shop/order", data: { n } })).body;
    sent.push({ id: ids[0], at: Date.now() });
  }
  const listed = (await (nodes[1] as Node).rest("GET", "/events?name=shop/order")).body.data as { id: string; receivedAt: string }[];
  // Each node knows PostgreSQL's time but for the delay of asking for it, so events that different nodes receive within moments of
  // each other may be listed either way round. What a wrong clock would do to them is far more than that.
  assert.deepEqual(listed.map(({ id }) => id).sort(), sent.map(({ id }) => id).sort());
  for (const { id, receivedAt } of listed) {
    const apart = Date.parse(receivedAt) - (sent.find((event) => event.id === id)?.at ?? 0);
    assert.ok(Math.abs(apart) < REASON_MS, `${id} was received ${apart} ms off`);
  }
  const times = listed.map(({ receivedAt }) => Date.parse(receivedAt));
  assert.deepEqual(
    times,
    times.toSorted((a, b) => b - a),
    "newest first",
  );
  for (const [index] of nodes.entries()) {
    const own = sent.filter((_, n) => n % 3 === index).map(({ id }) => id);
    assert.deepEqual(own, own.toSorted(), "ids of one node sort as they were received");
  }

  for (const first of nodes) {
    const event = { name: "shop/once", id: `by-${first.skewMs}`, data: {} };
    const begun = Date.now();
    const { ids } = (await first.send(event)).body;
    for (const other of nodes) {
      const again = (await other.send(event)).body.ids;
      if (Date.now() - begun < DEDUP_MS - 1_000) assert.deepEqual(again, ids, `sent to ${first.skewMs}, again to ${other.skewMs}`);
    }
  }
  const count = async () => (await (nodes[0] as Node).rest("GET", "/events?name=shop/once&id=by-0")).body.data.length;
  await poll(
    async () => {
      await (nodes[2] as Node).send({ name: "shop/once", id: "by-0", data: {} });
      return (await count()) === 2 ? true : null;
    },
    "the end of the window",
    DEDUP_MS + REASON_MS,
  );
});

test("sleeps, delays and cancellations keep their time, and no lease is stolen", { skip }, async (t) => {
  const databaseUrl = await freshDatabase(t);
  const nodes = await startNodes(t, databaseUrl);
  const [first] = nodes as [Node];
  const begun = new Map<string, number>();
  const ended = new Map<string, number>();
  const calls = new Map<string, number>();
  await startApp(t, first, (inlet) => [
    inlet.createFunction({ id: "nap" }, { event: "shop/nap" }, async ({ event, step }) => {
      const label = String(event.data.label);
      await step.run("begin", () => void begun.set(label, Date.now()));
      await step.sleep("nap", "3s");
      await step.run("end", () => void ended.set(label, Date.now()));
    }),
    // Longer than it takes another node to look around, several times over.
    inlet.createFunction({ id: "long" }, { event: "shop/long" }, async ({ event }) => {
      const label = String(event.data.label);
      calls.set(label, (calls.get(label) ?? 0) + 1);
      await sleep(13_000);
      return label;
    }),
    inlet.createFunction(
      { id: "cancelled", cancelOn: [{ event: "shop/stop", if: "async.data.label == event.data.label" }] },
      { event: "shop/begin" },
      async ({ step }) => void (await step.sleep("for long", "1h")),
    ),
    inlet.createFunction({ id: "late" }, { event: "shop/late" }, ({ event }) => void begun.set(String(event.data.label), Date.now())),
  ]);
  await everyNodeKnows(nodes, 4);

  const held = await Promise.all(nodes.map((node) => node.send({ name: "shop/long", data: { label: `long-${node.skewMs}` } })));
  const sentAt = Date.now();
  for (const node of nodes) {
    assert.equal((await node.send({ name: "shop/nap", data: { label: `nap-${node.skewMs}` } })).status, 200);
    assert.equal((await node.send({ name: "shop/late", ts: sentAt + 4_000, data: { label: `late-${node.skewMs}` } })).status, 200);
  }
  const stopped = await Promise.all(nodes.map((node) => node.send({ name: "shop/begin", data: { label: node.skewMs } })));
  for (const { body } of stopped) {
    await poll(
      async () => ((await first.rest("GET", `/events/${body.ids[0]}/runs`)).body.data[0]?.status === "sleeping" ? true : null),
      "sleep",
    );
  }
  // Each is cancelled by an event another node receives.
  for (const [n, node] of nodes.entries()) await (nodes[(n + 1) % 3] as Node).send({ name: "shop/stop", data: { label: node.skewMs } });
  for (const { body } of stopped) {
    await poll(
      async () => ((await first.rest("GET", `/events/${body.ids[0]}/runs`)).body.data[0]?.status === "cancelled" ? true : null),
      "the end",
    );
  }
  for (const { skewMs } of nodes) {
    const nap = `nap-${skewMs}`;
    await poll(async () => (ended.has(nap) ? true : null), `the end of ${nap}`, 3_000 + REASON_MS);
    const slept = (ended.get(nap) as number) - (begun.get(nap) as number);
    assert.ok(slept >= 2_900 && slept < 3_000 + REASON_MS, `${nap}: ${slept} ms`);
    const late = `late-${skewMs}`;
    await poll(async () => (begun.has(late) ? true : null), `the start of ${late}`, 4_000 + REASON_MS);
    const after = (begun.get(late) as number) - sentAt;
    assert.ok(after >= 3_900 && after < 4_000 + REASON_MS, `${late}: ${after} ms`);
  }

  const holders = await inDatabase(databaseUrl, (client) =>
    client.query("SELECT DISTINCT leased_by FROM queue WHERE leased_by IS NOT NULL"),
  );
  const names = (await call(`${first.url}/ready`)).body.nodes.map(({ name }: { name: string }) => name);
  assert.ok(holders.rows.length > 0, "something is held");
  for (const { leased_by } of holders.rows) assert.ok(names.includes(leased_by), `a lease carries the name of a node: ${leased_by}`);
  for (const { body } of held) {
    await poll(
      async () => ((await first.rest("GET", `/events/${body.ids[0]}/runs`)).body.data[0]?.status === "completed" ? true : null),
      "it",
    );
  }
  assert.deepEqual([...calls.values()], [1, 1, 1], "each was called once, by the node that held it");
});

test("a schedule ticks at its minute, once", { skip }, async (t) => {
  const databaseUrl = await freshDatabase(t);
  const nodes = await startNodes(t, databaseUrl);
  const ticks: number[] = [];
  await startApp(t, nodes[1] as Node, (inlet) => [
    inlet.createFunction({ id: "tick" }, { cron: "* * * * *" }, () => void ticks.push(Date.now())),
  ]);
  await everyNodeKnows(nodes, 1);
  await poll(async () => (ticks.length > 0 ? true : null), "the next full minute", MINUTE_MS + REASON_MS);
  const intoMinute = (ticks[0] as number) % MINUTE_MS;
  assert.ok(intoMinute < REASON_MS, `it ticked ${intoMinute} ms into a minute`);
  const { data } = (await (nodes[0] as Node).rest("GET", "/runs")).body;
  assert.equal(data.length, 1);
});
