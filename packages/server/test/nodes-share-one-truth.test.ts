/**
 * Several nodes on one PostgreSQL are one service: what is done on one holds on all of them, soon. The nodes run inside the
 * test's process, each with connections, caches and a name of its own.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { openPostgresStore } from "../src/store/postgres/postgres-store.ts";
import { poll, runsOf, startApp } from "./support/app.ts";
import { freshDatabase, whyNoPostgres } from "./support/postgres.ts";
import { API_KEY, startTestService, type TestService } from "./support/service.ts";

const skip = whyNoPostgres() ?? false;
const SOON_MS = 1_000;

async function startNodes(t: Parameters<typeof freshDatabase>[0], count: number): Promise<[TestService, TestService, ...TestService[]]> {
  const databaseUrl = await freshDatabase(t);
  const nodes = await Promise.all(Array.from({ length: count }, () => startTestService(t, { databaseUrl })));
  return nodes as [TestService, TestService, ...TestService[]];
}

test("a key made on one node works on the other within a second, and revoked stops working", { skip }, async (t) => {
  const [here, there] = await startNodes(t, 2);
  const made = (await here.rest("POST", "/keys", { body: { kind: "event", name: "new" } })).body.data;
  const send = async () => (await there.send({ name: "shop/x", data: {} }, { key: made.key })).status;
  await poll(async () => ((await send()) === 200 ? true : null), "the new key", SOON_MS);
  await here.rest("DELETE", `/keys/${made.id}`);
  await poll(async () => ((await send()) === 401 ? true : null), "the end of the key", SOON_MS);
});

test("signing keys are kept in the order they are given in, since the last one signs", { skip }, async (t) => {
  const databaseUrl = await freshDatabase(t);
  const given = Array.from({ length: 8 }, (_, n) => `signkey-test-${String(n).repeat(64)}`);
  await startTestService(t, { databaseUrl, flags: ["--signing-key", given.join(",")] });
  const store = await openPostgresStore({ url: databaseUrl, onFault: () => undefined, onRecovery: () => undefined });
  t.after(() => store.stop());
  const kept = (await store.keyList()).flatMap(({ kind, secret }) => (kind === "signing" && secret !== null ? [secret] : []));
  assert.deepEqual(
    kept.filter((key) => given.includes(key)),
    given,
  );
});

test("of equal ids sent to all nodes at once exactly one is stored", { skip }, async (t) => {
  const nodes = await startNodes(t, 3);
  for (let round = 0; round < 10; round++) {
    const event = (n: number) => ({ name: "shop/once", id: `same-${round}`, data: { n } });
    const answers = await Promise.all(Array.from({ length: 12 }, (_, n) => nodes[n % 3]?.send([event(n), event(n + 100)])));
    const ids = new Set(answers.flatMap((answer) => answer?.body.ids));
    assert.equal(ids.size, 1, JSON.stringify(answers.map((answer) => answer?.body)));
    const stored = (await nodes[0].rest("GET", `/events/${[...ids][0]}`)).body.data;
    assert.equal(stored.duplicates, 23);
  }
});

test("an app that registers on one node is called for events of another; every event starts its function once", { skip }, async (t) => {
  const [here, there, third] = await startNodes(t, 3);
  const seen: number[] = [];
  await startApp(t, here, (inlet) => [
    inlet.createFunction({ id: "count" }, { event: "shop/counted" }, async ({ event, step }) => {
      await step.run("note", () => void seen.push(Number(event.data.n)));
      return event.data.n;
    }),
  ]);
  await poll(async () => ((await there.rest("GET", "/functions")).body.data.length > 0 ? true : null), "the function", SOON_MS);
  const sent = Array.from({ length: 60 }, (_, n) => ({ name: "shop/counted", data: { n } }));
  const senders = [here, there, third as TestService];
  await poll(async () => ((await (third as TestService).rest("GET", "/functions")).body.data.length > 0 ? true : null), "it", SOON_MS);
  const answers = await Promise.all(sent.map((event, n) => senders[n % 3]?.send(event)));
  for (const answer of answers) {
    const runs = await runsOf(there, answer?.body.ids[0]);
    assert.deepEqual([runs.length, runs[0].status], [1, "completed"]);
  }
  assert.deepEqual(
    seen.sort((a, b) => a - b),
    sent.map((_, n) => n),
  );
});

test("a function's concurrency limit holds across nodes", { skip }, async (t) => {
  const nodes = await startNodes(t, 3);
  let [working, most, done] = [0, 0, 0];
  await startApp(t, nodes[0], (inlet) => [
    inlet.createFunction({ id: "narrow", concurrency: { limit: 2 } }, { event: "shop/narrow" }, async () => {
      most = Math.max(most, ++working);
      await new Promise((resolve) => setTimeout(resolve, 20));
      working--;
      done++;
    }),
  ]);
  for (const node of nodes) {
    await poll(async () => ((await node.rest("GET", "/functions")).body.data.length > 0 ? true : null), "the function", SOON_MS);
  }
  for (let wave = 1; wave <= 3; wave++) {
    await Promise.all(Array.from({ length: 20 }, (_, n) => nodes[n % 3]?.send({ name: "shop/narrow", data: {} })));
    await poll(async () => (done === wave * 20 ? true : null), `wave ${wave}`);
  }
  assert.equal(most, 2);
});

test("a live tail on one node shows what other nodes accept, each event once and none missed", { skip }, async (t) => {
  const [here, there, third] = await startNodes(t, 3);
  const stream = await fetch(`${here.url}/v1/events/stream`, { headers: { authorization: `Bearer ${API_KEY}` } });
  const reader = stream.body?.getReader();
  assert.ok(reader);
  t.after(() => reader.cancel());
  await reader.read();
  const senders = [there, third as TestService];
  const sent = (await Promise.all(Array.from({ length: 100 }, (_, n) => senders[n % 2]?.send({ name: "shop/tail", data: { n } })))).flatMap(
    (answer) => answer?.body.ids as string[],
  );
  const shown: string[] = [];
  let text = "";
  while (shown.length < sent.length) {
    const { value, done } = await reader.read();
    assert.ok(!done, "the stream ended");
    text += new TextDecoder().decode(value);
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const id = /^data: .*?"id":"([^"]+)"/m.exec(text.slice(0, end))?.[1];
      if (id) shown.push(id);
      text = text.slice(end + 2);
    }
  }
  assert.deepEqual(shown.sort(), sent.sort());
});

test("what a dead node held is taken up by another after its lease, and only then", { skip }, async (t) => {
  const databaseUrl = await freshDatabase(t);
  const node = await startTestService(t, { databaseUrl });
  const called: string[] = [];
  await startApp(t, node, (inlet) => [
    inlet.createFunction({ id: "taken" }, { event: "shop/held" }, ({ runId }) => void called.push(runId)),
  ]);
  const store = await openPostgresStore({ url: databaseUrl, onFault: () => undefined, onRecovery: () => undefined });
  t.after(() => store.stop());
  // Another node accepts an event, holds its run for two seconds, and is never heard of again.
  const [home] = (await store.environmentList()).filter(({ name }) => name === "production");
  const [target] = await store.functionList();
  assert.ok(home && target);
  const at = store.storeNow();
  const event = { id: `01${"0".repeat(24)}`, name: "shop/held", ts: at, dedupId: null, data: "{}", extras: null } as const;
  const run = { id: `02${"0".repeat(24)}`, functionNo: target.no, lane: `app:${target.appNo}`, dueAt: at, rank: at };
  const lease = { node: "dead", until: at + 2_000, roomIn: () => 1 };
  const { handed } = await store.eventAppend({
    ...{ environmentId: home.id, receivedAt: at, source: { kind: "key", id: "k" }, duplicateSince: 0, idsFromSender: false, lease },
    events: [{ ...event, runs: [run] }] as never,
  });
  assert.equal(handed.length, 1);
  await poll(async () => (called.length > 0 ? true : null), "the run of the dead node", 15_000);
  assert.ok(store.storeNow() >= at + 2_000, "not before the lease was over");
  assert.deepEqual(called, [run.id]);
});

test("nodes whose clocks are wrong agree on the time", { skip }, async (t) => {
  const databaseUrl = await freshDatabase(t);
  const ours = Date.now;
  t.after(() => {
    Date.now = ours;
  });
  // A minute ahead while the store reads the clock of PostgreSQL, and from then on.
  Date.now = () => ours() + 60_000;
  const store = await openPostgresStore({ url: databaseUrl, onFault: () => undefined, onRecovery: () => undefined });
  const apart = store.storeNow() - ours();
  Date.now = ours;
  await store.stop();
  assert.ok(Math.abs(apart) < 2_000, `${apart} ms`);
});
