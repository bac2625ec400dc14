/**
 * Several nodes on one PostgreSQL are one service: what is done on one holds on all of them, soon. The nodes run inside the
 * test's process, each with connections, caches and a name of its own.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { LeaseId } from "@inlet/protocol";
import { Directory } from "../src/receive/senders/directory.ts";
import { poll, runsOf, startApp } from "./support/app.ts";
import { openBrowser } from "./support/browser.ts";
import { clockBeforeMinute } from "./support/held-clock.ts";
import { migratedDatabase, OWN_LOCKS, openPatientStore, whyNoPostgres } from "./support/postgres.ts";
import { inDatabase } from "./support/postgres-server.ts";
import { API_KEY, startTestService, type TestService } from "./support/service.ts";
import { eventOf, makeWebhook, post } from "./support/webhooks.ts";

const skip = whyNoPostgres() ?? false;
/** By notification, not by a poll, which comes later. */
const NOTIFIED = ["--poll-interval", "60s"];
const SOON_MS = 50_000;

type Nodes = [TestService, TestService, ...TestService[]];

async function startNodes(t: Parameters<typeof migratedDatabase>[0], count: number, flags: string[] = []): Promise<Nodes> {
  const databaseUrl = await migratedDatabase(t);
  const nodes = await Promise.all(Array.from({ length: count }, () => startTestService(t, { databaseUrl, flags })));
  return nodes as Nodes;
}

test("a key made on one node works on the other at once, and revoked stops working; who signs out everywhere does so", {
  skip,
}, async (t) => {
  const [here, there] = await startNodes(t, 2, NOTIFIED);
  const made = (await here.rest("POST", "/keys", { body: { kind: "event", name: "new" } })).body.data;
  const send = async () => (await there.send({ name: "shop/x", data: {} }, { key: made.key })).status;
  await poll(async () => ((await send()) === 200 ? true : null), "the new key", SOON_MS);
  await here.rest("DELETE", `/keys/${made.id}`);
  await poll(async () => ((await send()) === 401 ? true : null), "the end of the key", SOON_MS);

  const [browser, elsewhere] = [openBrowser(here.url), openBrowser(there.url)];
  for (const one of [browser, elsewhere]) assert.equal((await one.signIn({ apiKey: API_KEY })).status, 201);
  assert.equal((await there.rest("GET", "/sessions")).body.data.length, 2);
  assert.equal((await browser.rest("DELETE", "/session?everywhere=true")).status, 200);
  assert.equal((await elsewhere.rest("GET", "/session")).body.code, "session_missing", "signed out on every node");
});

test("a key made while another node starts works there, without waiting for its next poll", { skip }, async (t) => {
  const databaseUrl = await migratedDatabase(t);
  const here = await startTestService(t, { databaseUrl });
  const [starting, key] = await inDatabase(databaseUrl, async (client) => {
    // It has read the keys by the time it reads the schemas, and waits there.
    await client.query("BEGIN; LOCK TABLE event_schemas IN ACCESS EXCLUSIVE MODE");
    const started = startTestService(t, { databaseUrl, flags: ["--poll-interval", "60s", "--database-timeout", "60s"] });
    const waiting = `SELECT FROM ${OWN_LOCKS} WHERE relation = 'event_schemas'::regclass AND NOT granted`;
    await poll(async () => ((await client.query(waiting)).rowCount ? true : null), "the node that starts");
    const made = (await here.rest("POST", "/keys", { body: { kind: "event", name: "meanwhile" } })).body.data;
    await client.query("COMMIT");
    return [started, made.key];
  });
  const there = await starting;
  const send = async () => (await there.send({ name: "shop/x", data: {} }, { key })).status;
  await poll(async () => ((await send()) === 200 ? true : null), "the key", SOON_MS);
});

test("signing keys are kept in the order they are given in, since the last one signs", { skip }, async (t) => {
  const databaseUrl = await migratedDatabase(t);
  const given = Array.from({ length: 8 }, (_, n) => `signkey-test-${String(n).repeat(64)}`);
  await startTestService(t, { databaseUrl, flags: ["--signing-key", given.join(",")] });
  const store = await openPatientStore({ url: databaseUrl });
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
      // The first waits for another beside it. From then on, a third would find two at work.
      await poll(async () => (most >= 2 ? true : null), "a second call beside the first");
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
  const databaseUrl = await migratedDatabase(t);
  const node = await startTestService(t, { databaseUrl });
  const called: string[] = [];
  await startApp(t, node, (inlet) => [
    inlet.createFunction({ id: "taken" }, { event: "shop/held" }, ({ runId }) => void called.push(runId)),
  ]);
  const store = await openPatientStore({ url: databaseUrl });
  t.after(() => store.stop());
  // Another node accepts an event, holds its run for two seconds, and is never heard of again.
  const [home] = (await store.environmentList()).filter(({ name }) => name === "production");
  const [target] = await store.functionList();
  assert.ok(home && target);
  const at = store.storeNow();
  const event = { id: `01${"0".repeat(24)}`, name: "shop/held", ts: at, dedupId: null, data: "{}", extras: null } as const;
  const run = { id: `02${"0".repeat(24)}`, functionNo: target.no, lane: `app:${target.appNo}`, dueAt: at, rank: at };
  const lease = { node: "dead", until: at + 2_000, newId: () => "of the dead" as LeaseId, roomIn: () => 1 };
  const { leased } = await store.eventAppend({
    environmentId: home.id,
    receivedAt: at,
    source: { kind: "key", id: "k" },
    duplicateSince: 0,
    idsFromSender: false,
    lease,
    events: [{ ...event, runs: [run] }] as never,
  });
  assert.equal(leased.length, 1);
  await poll(async () => (called.length > 0 ? true : null), "the run of the dead node");
  assert.ok(store.storeNow() >= at + 2_000, "not before the lease was over");
  assert.deepEqual(called, [run.id]);
});

test("a look at keys that began before a key was revoked does not bring it back", { skip }, async (t) => {
  const databaseUrl = await migratedDatabase(t);
  const node = await startTestService(t, { databaseUrl });
  const { id, key } = (await node.rest("POST", "/keys", { body: { kind: "event", name: "short" } })).body.data;
  const store = await openPatientStore({ url: databaseUrl });
  t.after(() => store.stop());
  // The first look is answered by PostgreSQL before the change, and its response arrives after it.
  const arrive = Promise.withResolvers<void>();
  let looks = 0;
  const keyList: typeof store.keyList = async () => {
    const isFirst = ++looks === 1;
    const keys = await store.keyList();
    if (isFirst) await arrive.promise;
    return keys;
  };
  const directory = new Directory({ ...store, keyList });
  const early = directory.refresh();
  await poll(async () => (looks === 1 ? true : null), "the first look");
  await node.rest("DELETE", `/keys/${id}`);
  // The second look may wait for the first. If it does not, it ends while these lists are read.
  const later = directory.refresh();
  for (let lists = 0; lists < 10; lists++) await store.keyList();
  arrive.resolve();
  await Promise.all([early, later]);
  assert.equal(directory.eventKey(key), null);
});

test("webhooks, environments and apps that are changed on one node are so on the other at once", { skip }, async (t) => {
  const [here, there] = await startNodes(t, 2, NOTIFIED);
  const soon = (what: string, isSo: () => Promise<boolean>) => poll(async () => ((await isSo()) ? true : null), what, SOON_MS);
  const webhook = await makeWebhook(here);
  const url = webhook.url.replace(here.url, there.url);
  await soon("the webhook", async () => (await post(url)).status === 200);
  const transform = 'function transform() { return { name: "hook/second", data: {} } }';
  await here.rest("PUT", `/webhooks/${webhook.id}`, { body: { transform } });
  await soon("its new transform", async () => (await eventOf(there, await post(url))).name === "hook/second");
  await here.rest("PUT", `/webhooks/${webhook.id}`, { body: { enabled: false } });
  await soon("the end of the webhook", async () => (await post(url)).status === 404);

  await here.rest("POST", "/environments", { body: { name: "staging", kind: "custom" } });
  const staging = { headers: { "x-service-env": "staging" } };
  await soon("the environment", async () => (await there.rest("GET", "/events", staging)).status === 200);
  const { key } = (await here.rest("POST", "/keys", { body: { kind: "event", name: "s" }, ...staging })).body.data;
  await soon("its key", async () => (await there.send({ name: "shop/x", data: {} }, { key })).status === 200);
  await here.rest("POST", "/environments/staging/archive");
  await soon("its end", async () => (await there.send({ name: "shop/x", data: {} }, { key })).status !== 200);

  const app = await startApp(t, here, (inlet) => [inlet.createFunction({ id: "first" }, { event: "shop/x" }, () => 1)]);
  const functionsThere = async () => (await there.rest("GET", "/functions")).body.data.map(({ id }: { id: string }) => id).join();
  await soon("the app", async () => (await functionsThere()) === "shop-first");
  await app.replace([app.client.createFunction({ id: "second" }, { event: "shop/x" }, () => 2)]);
  await soon("its new functions", async () => (await functionsThere()) === "shop-second");
  const [{ id }] = (await here.rest("GET", "/apps")).body.data;
  await here.rest("DELETE", `/apps/${id}`);
  await soon("its removal", async () => (await functionsThere()) === "");
});

test("a schedule's tick starts one run, however many nodes there are", { skip }, async (t) => {
  const databaseUrl = await migratedDatabase(t);
  const clock = clockBeforeMinute();
  const nodes = await Promise.all([1, 2, 3].map(() => startTestService(t, { databaseUrl, now: clock.now })));
  const [first] = nodes as [TestService];
  const called = new Map<string, number>();
  const ids = Array.from({ length: 20 }, (_, n) => `tick-${n}`);
  await startApp(t, first, (inlet) =>
    ids.map((id) => inlet.createFunction({ id }, { cron: "* * * * *" }, () => void called.set(id, (called.get(id) ?? 0) + 1))),
  );
  for (const node of nodes) {
    await poll(
      async () => ((await node.rest("GET", "/functions?limit=100")).body.data.length === ids.length ? true : null),
      "the functions",
    );
  }
  clock.go();
  const runs = await poll(async () => {
    const { data } = (await first.rest("GET", "/runs?limit=100")).body;
    return data.length >= ids.length && data.every(({ status }: { status: string }) => status === "completed") ? data : null;
  }, "the ticks");
  assert.equal(runs.length, ids.length);
  assert.deepEqual(
    [...called.values()],
    ids.map(() => 1),
  );
});

test("sweepers of several nodes remove everything once, and event types are counted once", { skip }, async (t) => {
  const nodes = await startNodes(t, 3);
  const batch = (n: number) => Array.from({ length: 200 }, (_, i) => ({ name: `shop/${i % 2}`, id: `${n}-${i}`, data: {} }));
  await Promise.all(Array.from({ length: 15 }, (_, n) => nodes[n % 3]?.send(batch(n))));
  const typesOf = async (node: TestService) =>
    (await node.rest("GET", "/event-types")).body.data.map(({ name, count }: { name: string; count: number }) => `${name} ${count}`);
  const all = ["shop/0 1500", "shop/1 1500"];
  for (const node of nodes) {
    await poll(async () => ((await typesOf(node)).filter((line: string) => all.includes(line)).length === 2 ? true : null), "the counts");
  }
  const options = { url: nodes[0].databaseUrl as string };
  const stores = await Promise.all([1, 2, 3].map(() => openPatientStore(options)));
  t.after(() => Promise.all(stores.map((store) => store.stop())));
  const seenUntil = (stores[0]?.storeNow() ?? 0) + 1_000;
  const removed = await Promise.all(
    stores.map(async (store) => {
      let sum = 0;
      for (let some = -1; some !== 0; sum += Math.max(some, 0)) some = await store.dedupKeyExpireMany({ seenUntil, limit: 100 });
      return sum;
    }),
  );
  assert.equal(
    removed.reduce((a, b) => a + b, 0),
    3_000,
  );
});

test("a page of runs on one node follows what another node works on", { skip }, async (t) => {
  const [here, there] = await startNodes(t, 2);
  await startApp(t, here, (inlet) => [inlet.createFunction({ id: "seen" }, { event: "shop/seen" }, () => "done")]);
  await poll(async () => ((await there.rest("GET", "/functions")).body.data.length > 0 ? true : null), "the function", SOON_MS);
  const stream = await fetch(`${there.url}/v1/runs/stream`, { headers: { authorization: `Bearer ${API_KEY}` } });
  const reader = stream.body?.getReader();
  assert.ok(reader);
  t.after(() => reader.cancel());
  const { body } = await here.send({ name: "shop/seen", data: {} });
  let text = "";
  while (!/"status":"completed"/.test(text)) {
    const { value, done } = await reader.read();
    assert.ok(!done, "the stream ended");
    text += new TextDecoder().decode(value);
  }
  assert.ok(text.includes(body.ids[0]), text);
  assert.equal((await runsOf(there, body.ids[0]))[0].output, "done");
});
