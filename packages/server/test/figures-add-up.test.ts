/** Event types and the overview: what is counted, where, and that it is all there also after a restart. */

import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";
import { poll, runsOf, startApp } from "./support/app.ts";
import { test } from "./support/both-stores.ts";
import { clockBeforeMinute } from "./support/held-clock.ts";
import { type Answer, startTestService, type TestService, temporaryFolder } from "./support/service.ts";
import { makeWebhook, post } from "./support/webhooks.ts";

const DAY_MS = 86_400_000;
const code = ({ status, body }: Answer) => [status, body?.code];

async function eventTypes(service: TestService, headers: Record<string, string> = {}) {
  const { status, body } = await service.rest("GET", "/event-types", { headers });
  assert.equal(status, 200, JSON.stringify(body));
  return body.data;
}

async function points(service: TestService, query = "", headers: Record<string, string> = {}) {
  const { status, body } = await service.rest("GET", `/stats${query}`, { headers });
  assert.equal(status, 200, JSON.stringify(body));
  return body.data.points;
}

const event = (name: string, id?: string) => ({ name, data: {}, ...(id && { id }) });

test("event types: first and last seen, counts by day and for ever, as soon as the event is accepted", async (t) => {
  let now = Date.parse("2026-01-31T12:30:00Z");
  const dataDir = temporaryFolder(t);
  const service = await startTestService(t, { now: () => now, dataDir });
  await service.send([event("shop/order.created", "a"), event("shop/order.created"), event("shop/order.created", "a")]);
  assert.deepEqual(await eventTypes(service), [
    {
      name: "shop/order.created",
      firstSeenAt: "2026-01-31T12:30:00.000Z",
      lastSeenAt: "2026-01-31T12:30:00.000Z",
      count24h: 2,
      count: 2,
      functions: [],
      hours: [...Array(24).fill(0), 2],
    },
  ]);
  now += 2 * DAY_MS;
  await service.send([event("shop/order.created"), event("shop/order.shipped")]);
  await service.stop();
  const again = await startTestService(t, { now: () => now, dataDir });
  const [shipped, created] = await eventTypes(again);
  assert.deepEqual([shipped.name, shipped.count], ["shop/order.shipped", 1]);
  assert.deepEqual([created.count24h, created.count, created.lastSeenAt], [1, 3, "2026-02-02T12:30:00.000Z"]);
});

test("an event type's volume, hour by hour, for a week", async (t) => {
  let now = Date.parse("2026-01-31T12:30:00Z");
  const service = await startTestService(t, { now: () => now });
  const name = "shop/order.created with a space";
  await service.send([event(name), event(name)]);
  now += 3 * DAY_MS;
  await service.send(event(name));
  const get = (wanted: string) => service.rest("GET", `/event-types/${encodeURIComponent(wanted)}`);
  const { status, body } = await get(name);
  assert.equal(status, 200, JSON.stringify(body));
  const { volume, hours: _, ...type } = body.data;
  assert.deepEqual([type.name, type.count24h, type.count], [name, 1, 3]);
  assert.deepEqual(
    [volume.length, volume[0].at, volume.at(-1)],
    [169, "2026-01-27T12:00:00.000Z", { at: "2026-02-03T12:00:00.000Z", count: 1 }],
  );
  assert.deepEqual(
    volume.filter(({ count }: { count: number }) => count > 0).map(({ at, count }: { at: string; count: number }) => [at, count]),
    [
      ["2026-01-31T12:00:00.000Z", 2],
      ["2026-02-03T12:00:00.000Z", 1],
    ],
  );
  assert.deepEqual(code(await get("never/sent")), [404, "event_type_not_found"]);
});

test("event types name the functions they start, and runs are counted", async (t) => {
  const service = await startTestService(t);
  const trigger = { event: "shop/order.created" };
  await startApp(t, service, (inlet) => [
    inlet.createFunction({ id: "ship" }, trigger, () => "shipped"),
    inlet.createFunction({ id: "bill", retries: 0 }, trigger, () => {
      throw new Error("no account");
    }),
  ]);
  const { body } = await service.send([event("shop/order.created"), event("shop/other")]);
  const types: { name: string; functions: { id: string }[] }[] = await eventTypes(service);
  const starts = (wanted: string) => types.find(({ name }) => name === wanted)?.functions.map(({ id }) => id);
  assert.deepEqual([starts("shop/order.created")?.sort(), starts("shop/other")], [["shop-bill", "shop-ship"], []]);
  await runsOf(service, body.ids[0], { count: 2 });
  const minutes: Record<string, number>[] = await points(service);
  const total = (figure: string) => minutes.reduce((sum, minute) => sum + (minute[figure] ?? 0), 0);
  assert.deepEqual(["runsStarted", "runsCompleted", "runsFailed"].map(total), [2, 1, 1]);
});

test("figures agree with the lists, whatever started a run", async (t) => {
  const clock = clockBeforeMinute();
  const service = await startTestService(t, { now: clock.now });
  await startApp(t, service, (inlet) => {
    const child = inlet.createFunction({ id: "child" }, { event: "shop/never" }, () => "done");
    const parent = inlet.createFunction({ id: "parent" }, { event: "shop/order.created" }, async ({ step }) => {
      await step.invoke("call", { function: child });
      await step.sendEvent("tell", { name: "shop/order.told", data: {} });
    });
    const told = inlet.createFunction({ id: "told", retries: 0 }, { event: "shop/order.told" }, () => {
      throw new Error("nobody listens");
    });
    const batched = inlet.createFunction(
      { id: "batched", batchEvents: { maxSize: 2, timeout: "1h" } },
      { event: "shop/order.told" },
      () => 1,
    );
    const scheduled = inlet.createFunction({ id: "scheduled" }, { cron: "* * * * *" }, () => "ticked");
    return [child, parent, told, batched, scheduled];
  });
  clock.go();
  const { body } = await service.send([event("shop/order.created"), event("shop/order.created")]);
  const [run] = await runsOf(service, body.ids[0]);
  const list = async (path: string) => (await service.rest("GET", `${path}limit=100`)).body.data;
  // Two parents, two children, two that fail, one for the batch, one started by hand with what it starts, and one by the schedule.
  await service.rest("POST", `/runs/${run.id}/rerun`);
  const ended = async () => (await list("/runs?")).filter(({ endedAt }: { endedAt: string | null }) => endedAt !== null);
  await poll(async () => ((await ended()).length >= 11 ? true : null), "every kind of start");
  const readLists = () => Promise.all(["/events?internal=false&", "/runs?", "/runs?status=completed&", "/runs?status=failed&"].map(list));
  const readFunctions = () =>
    Promise.all(
      ["parent", "child", "told", "batched", "scheduled"].map(
        async (id) => (await service.rest("GET", `/functions/shop-${id}/stats`)).body.data,
      ),
    );
  // Read again if the schedule has started a run meanwhile.
  const { minutes, lists, perFunction } = await poll(async () => {
    const before = await readLists();
    const read = { minutes: (await points(service)) as Record<string, number>[], perFunction: await readFunctions(), lists: before };
    return isDeepStrictEqual(await readLists(), before) ? read : null;
  }, "a time in which nothing happens");
  const total = (figure: string) => minutes.reduce((sum, minute) => sum + (minute[figure] ?? 0), 0);
  assert.deepEqual(
    ["accepted", "runsStarted", "runsCompleted", "runsFailed"].map(total),
    lists.map((items) => items.length),
  );
  assert.ok(
    lists[1]?.some(
      (started: { function: { id: string }; cron: string | null }) => started.function.id === "shop-scheduled" && started.cron !== null,
    ),
    "one was started by its schedule",
  );
  const created = perFunction.flatMap((stats) => stats.points).reduce((sum: number, point: { created: number }) => sum + point.created, 0);
  assert.equal(created, lists[1]?.length, "the figures of functions add up to the list of runs");
});

test("event types belong to an environment and come in pages", async (t) => {
  const service = await startTestService(t);
  await service.rest("POST", "/environments", { body: { name: "staging" } });
  for (const n of [1, 2, 3]) await service.send(event(`type/${n}`));
  assert.deepEqual(await eventTypes(service, { "x-service-env": "staging" }), []);
  const first = (await service.rest("GET", "/event-types?limit=2")).body;
  const second = (await service.rest("GET", `/event-types?limit=2&cursor=${first.page.next}`)).body;
  const names = [...first.data, ...second.data].map(({ name }: { name: string }) => name);
  assert.deepEqual([names, second.page.next], [["type/3", "type/2", "type/1"], null]);
  assert.deepEqual(code(await service.rest("GET", "/event-types?cursor=-")), [400, "request_invalid"]);
});

test("stats: accepted, duplicates and refused by minute, hour and day", async (t) => {
  let now = Date.parse("2026-01-31T12:30:30Z");
  const dataDir = temporaryFolder(t);
  const service = await startTestService(t, { now: () => now, dataDir });
  await service.send([event("a/b", "same"), event("a/b", "same"), event("a/b")]);
  await service.send({ name: "" });
  await service.send(event("a/b"), { key: "nobody's" });
  now += 60_000;
  await service.send(event("a/b"));
  const minutes = await points(service);
  assert.equal(minutes.length, 60);
  const figures = { runsStarted: 0, runsCompleted: 0, runsFailed: 0 };
  assert.deepEqual(minutes.slice(-2), [
    { at: "2026-01-31T12:30:00.000Z", accepted: 2, duplicates: 1, refused: 2, ...figures },
    { at: "2026-01-31T12:31:00.000Z", accepted: 1, duplicates: 0, refused: 0, ...figures },
  ]);
  await service.stop();
  const again = await startTestService(t, { now: () => now, dataDir });
  await again.send(event("a/b"));
  const hours = await points(again, "?interval=hour&from=2026-01-31T11:15:00Z&to=2026-01-31T13:00:00Z");
  assert.deepEqual(
    hours.map(({ at, accepted }: { at: string; accepted: number }) => [at, accepted]),
    [
      ["2026-01-31T11:00:00.000Z", 0],
      ["2026-01-31T12:00:00.000Z", 4],
    ],
  );
  const days = await points(again, "?interval=day");
  assert.deepEqual([days.length, days.at(-1).accepted, days.at(-1).at], [30, 4, "2026-01-31T00:00:00.000Z"]);
  assert.deepEqual(code(await again.rest("GET", "/stats?from=2026-01-01")), [400, "request_invalid"]);
  assert.deepEqual(code(await again.rest("GET", "/stats?interval=second")), [400, "request_invalid"]);
});

/** Each value once for as long as it lasts: how many points that is depends on where the slots of the history begin. */
const waitingIn = (history: readonly { waiting: number }[]) =>
  history.map(({ waiting }) => waiting).filter((waiting, index, all) => waiting !== all[index - 1]);

test("the queue: how much waits, and how it was before", async (t) => {
  // It stands still between its leaps, each to another slot of the history: what is sampled meanwhile counts where it belongs.
  let now = Date.now();
  // Leases outlast the leaps of the clock.
  const service = await startTestService(t, { now: () => now, flags: ["--app-calls", "1", "--lease", "10m"] });
  let open = () => {};
  const gate = new Promise<void>((resolve) => (open = resolve));
  await startApp(t, service, (inlet) => [inlet.createFunction({ id: "ship" }, { event: "shop/order.created" }, () => gate)]);
  const queue = async (environment = "production") =>
    (await service.rest("GET", "/stats", { headers: { "x-service-env": environment } })).body.data.queue;
  assert.deepEqual([(await queue()).waiting, (await queue()).oldestAgeMs], [0, 0]);
  now += 40_000;
  const { body } = await service.send([1, 2, 3].map(() => event("shop/order.created")));
  now += 40_000;
  const { history, ...waits } = await queue();
  assert.equal(waits.waiting, 3);
  assert.ok(waits.oldestAgeMs >= 40_000 && waits.oldestAgeMs < 80_000, `${waits.oldestAgeMs} ms`);
  const { at: _, ...newest } = history.at(-1);
  assert.deepEqual([waitingIn(history), newest], [[0, 3], waits]);
  await service.rest("POST", "/environments", { body: { name: "staging" } });
  assert.deepEqual((await queue("staging")).waiting, 0);
  open();
  for (const id of body.ids) await runsOf(service, id);
  now += 40_000;
  const { history: later, ...left } = await queue();
  assert.deepEqual(left, { waiting: 0, oldestAgeMs: 0 });
  assert.deepEqual(waitingIn(later), [0, 3, 0]);
});

test("what is refused counts where it was meant to go", async (t) => {
  const service = await startTestService(t, { now: () => 1_000_000_000_000 });
  for (const [name, kind] of [
    ["staging", "custom"],
    ["pr-1", "branch"],
  ]) {
    await service.rest("POST", "/environments", { body: { name, kind } });
  }
  const key = async (environment: string) =>
    (await service.rest("POST", "/keys", { body: { kind: "event", name: "k" }, headers: { "x-service-env": environment } })).body.data.key;
  await service.send({}, { key: await key("staging") });
  await service.send({}, { key: await key("branch"), headers: { "x-service-env": "pr-1" } });
  const webhook = await makeWebhook(service, "function transform() { throw new Error('no'); }", {}, { "x-service-env": "staging" });
  await post(webhook.url);
  const refused = async (name: string) => (await points(service, "", { "x-service-env": name })).at(-1).refused;
  assert.deepEqual([await refused("staging"), await refused("pr-1"), await refused("production")], [2, 1, 0]);
});
