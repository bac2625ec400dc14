/** A paused function: runs are created and wait, runs under way stop before their next call; it stays so over syncs and restarts, on every node. */

import assert from "node:assert/strict";
import { test as testOnce } from "node:test";
import type { Inlet } from "@inlet/sdk";
import { startApp } from "./support/app.ts";
import { test } from "./support/both-stores.ts";
import { clockBeforeMinute } from "./support/held-clock.ts";
import { migratedDatabase, whyNoPostgres } from "./support/postgres.ts";
import { isEnded, runsOfFunction, until } from "./support/runs.ts";
import { startTestService, type TestService, temporaryFolder } from "./support/service.ts";

test("a paused function calls nothing, keeps what comes, and goes on where it was", async (t) => {
  const where = { dataDir: temporaryFolder(t) };
  const called: string[] = [];
  const functions = (inlet: Inlet) => [
    inlet.createFunction({ id: "two" }, { event: "shop/two" }, async ({ event, step }) => {
      await step.run("first", () => void called.push(`first ${event.data.n}`));
      await step.waitForEvent("go", { event: "shop/go", timeout: "1d" });
      await step.run("second", () => void called.push(`second ${event.data.n}`));
    }),
    inlet.createFunction({ id: "other" }, { event: "shop/two" }, ({ event }) => void called.push(`other ${event.data.n}`)),
  ];
  let service = await startTestService(t, where);
  const app = await startApp(t, service, functions);
  await service.send({ name: "shop/two", data: { n: 1 } });
  await statusOf(service, "waiting");
  const paused = await service.rest("POST", "/functions/shop-two/pause");
  assert.equal(paused.status, 200, paused.text);
  assert.ok(paused.body.data.pausedAt);
  assert.equal((await service.rest("GET", "/audit-log?action=function.paused")).body.data.length, 1);
  await service.send([
    { name: "shop/go", data: {} },
    { name: "shop/two", data: { n: 2 } },
  ]);
  await until("the other function", () => (called.includes("other 2") ? true : undefined));
  await until("two runs that wait", async () => ((await functionTwo(service)).held === 2 ? true : undefined));
  await app.replace(functions(app.client));
  assert.ok((await functionTwo(service)).pausedAt, "a sync leaves it paused");
  await service.stop();
  service = await startTestService(t, where);
  const again = await functionTwo(service);
  assert.ok(again.pausedAt, "and so does a restart");
  assert.equal(again.held, 2);
  assert.deepEqual([...called].sort(), ["first 1", "other 1", "other 2"]);
  assert.equal((await runsOfFunction(service, "shop-two"))[0]?.status, "queued");
  const resumed = await service.rest("POST", "/functions/shop-two/resume");
  assert.deepEqual([resumed.status, resumed.body.data.pausedAt], [200, null]);
  await until("the first run's second step", () => (called.includes("second 1") ? true : undefined));
  await until("the second run's first step", () => (called.includes("first 2") ? true : undefined));
  assert.equal((await functionTwo(service)).held, 0);
});

test("runs that wait for a paused function go on, or end, although its app does not register it any more, or is removed", async (t) => {
  const service = await startTestService(t);
  const called: string[] = [];
  const functionOf = (inlet: Inlet, id: string) =>
    inlet.createFunction({ id, retries: 0 }, { event: `shop/${id}` }, () => void called.push(id));
  const app = await startApp(t, service, (inlet) => [functionOf(inlet, "two"), functionOf(inlet, "other")]);
  for (const id of ["two", "other"]) await service.rest("POST", `/functions/shop-${id}/pause`);
  const sent = await service.send(["two", "two", "other"].map((id) => ({ name: `shop/${id}`, data: {} })));
  assert.equal(sent.status, 200, sent.text);
  await app.replace([]);
  assert.equal((await service.rest("GET", "/functions/shop-two")).status, 404);
  const resumed = await service.rest("POST", "/functions/shop-two/resume", { body: { held: "cancel" } });
  assert.deepEqual([resumed.status, resumed.body.data.pausedAt], [200, null], resumed.text);
  const statuses = async (id: string) => (await runsOfFunction(service, id)).map(({ status }) => status);
  assert.deepEqual(await statuses("shop-two"), ["cancelled", "cancelled"]);
  assert.deepEqual(await statuses("shop-other"), ["queued"]);
  assert.equal((await service.rest("DELETE", "/apps/shop")).status, 200);
  await until("the end of what waited", async () => ((await statuses("shop-other"))[0] === "failed" ? true : undefined));
  assert.deepEqual(called, []);
});

test("what was held can be cancelled instead", async (t) => {
  const service = await startTestService(t);
  const called: number[] = [];
  await startApp(t, service, (inlet) => [
    inlet.createFunction({ id: "two" }, { event: "shop/two" }, ({ event }) => void called.push(event.data.n)),
  ]);
  await service.rest("POST", "/functions/shop-two/pause");
  await service.send([1, 2, 3].map((n) => ({ name: "shop/two", data: { n } })));
  const resumed = await service.rest("POST", "/functions/shop-two/resume", { body: { held: "cancel" } });
  assert.equal(resumed.status, 200, resumed.text);
  const runs = await runsOfFunction(service, "shop-two");
  assert.deepEqual(
    runs.map(({ status }) => status),
    ["cancelled", "cancelled", "cancelled"],
  );
  await service.send({ name: "shop/two", data: { n: 4 } });
  await until("the next run", async () =>
    (await runsOfFunction(service, "shop-two")).every(isEnded) && called.length > 0 ? true : undefined,
  );
  assert.deepEqual(called, [4]);
  assert.equal((await service.rest("POST", "/functions/nobody/pause")).body.code, "function_not_found");
  assert.equal((await service.rest("POST", "/functions/shop-two/resume", { body: { held: "both" } })).status, 400);
});

test("a run that an event starts later keeps its time although its function goes on before", async (t) => {
  const service = await startTestService(t);
  const ts = Date.now() + 2_000;
  let calledAt = 0;
  await startApp(t, service, (inlet) => [
    inlet.createFunction({ id: "two" }, { event: "shop/two" }, () => {
      calledAt = Date.now();
    }),
  ]);
  await service.rest("POST", "/functions/shop-two/pause");
  await service.send({ name: "shop/two", data: {}, ts });
  await service.rest("POST", "/functions/shop-two/resume");
  await until("the run", () => (calledAt > 0 ? true : undefined));
  assert.ok(calledAt >= ts, `${ts - calledAt} ms too early`);
});

test("an archived environment runs nothing, and goes on when it is unarchived", async (t) => {
  const clock = clockBeforeMinute();
  const service = await startTestService(t, { now: clock.now });
  await service.rest("POST", "/environments", { body: { name: "staging", kind: "custom" } });
  const headers = { "x-service-env": "staging" };
  const called: string[] = [];
  const functions = (inlet: Inlet) => [
    inlet.createFunction({ id: "two" }, { event: "shop/two" }, () => void called.push("two")),
    inlet.createFunction({ id: "tick" }, { cron: "* * * * *" }, () => void called.push("tick")),
  ];
  await startApp(t, service, functions, { environment: "staging" });
  const { key } = (await service.rest("POST", "/keys", { body: { kind: "event", name: "staging" }, headers })).body.data;
  const [id] = (await service.send({ name: "shop/two", data: {} }, { key })).body.ids;
  const runs = async () => (await service.rest("GET", `/events/${id}/runs`, { headers })).body.data;
  await until("the run", async () => ((await runs()).every(isEnded) && called.length === 1 ? true : undefined));
  assert.equal((await service.rest("POST", "/environments/staging/archive")).status, 200);
  const minute = clock.now() + 1_000;
  clock.go();
  assert.equal((await service.rest("POST", `/runs/${(await runs())[0].id}/rerun`, { headers })).status, 201);
  const held = async () => (await service.rest("GET", "/functions", { headers })).body.data.map((one: { held: number }) => one.held);
  await until("the call to be held", async () => ((await held()).includes(1) ? true : undefined));
  await until("the minute to begin", () => (clock.now() > minute + 300 ? true : undefined));
  assert.deepEqual(called, ["two"]);
  assert.deepEqual((await service.rest("GET", "/events?name=inlet/scheduled.timer", { headers })).body.data, []);
  assert.equal((await service.rest("POST", "/environments/staging/unarchive")).status, 200);
  await until("the call", () => (called.filter((one) => one === "two").length === 2 ? true : undefined));
});

testOnce("postgres: every node stops calling within a second, and goes on again", { skip: whyNoPostgres() ?? false }, async (t) => {
  const databaseUrl = await migratedDatabase(t);
  const one = await startTestService(t, { databaseUrl });
  const two = await startTestService(t, { databaseUrl });
  const called: number[] = [];
  await startApp(t, one, (inlet) => [
    inlet.createFunction({ id: "two" }, { event: "shop/two" }, ({ event }) => void called.push(event.data.n)),
  ]);
  await until("the other node", async () => ((await two.rest("GET", "/functions")).body.data.length === 1 ? true : undefined));
  await one.rest("POST", "/functions/shop-two/pause");
  await until("the other node to know", async () => ((await functionTwo(two)).pausedAt ? true : undefined));
  for (const [n, node] of [one, two].entries()) await node.send({ name: "shop/two", data: { n } });
  await until("both to be held", async () => ((await functionTwo(one)).held === 2 ? true : undefined));
  assert.deepEqual(called, []);
  await two.rest("POST", "/functions/shop-two/resume");
  await until("both runs", () => (called.length === 2 ? true : undefined));
});

async function functionTwo(service: TestService): Promise<{ pausedAt: string | null; held: number }> {
  const { data } = (await service.rest("GET", "/functions")).body;
  return data.find(({ id }: { id: string }) => id === "shop-two");
}

async function statusOf(service: TestService, status: string): Promise<void> {
  await until(`a run that is ${status}`, async () =>
    (await runsOfFunction(service, "shop-two"))[0]?.status === status ? true : undefined,
  );
}
