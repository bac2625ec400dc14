/** Deduplication: 24 h from the first event with an id, per environment, across names, restarts and concurrent senders. */

import assert from "node:assert/strict";
import { test } from "./support/both-stores.ts";
import { onOneService } from "./support/one-service.ts";
import { EVENT_KEY, startTestService, type TestService, temporaryFolder } from "./support/service.ts";

const DAY_MS = 86_400_000;

function heldClock(start = 1_800_000_000_000) {
  let now = start;
  return { now: () => now, set: (ms: number) => (now = start + ms) };
}

async function idOf(service: TestService, event: object, key = EVENT_KEY, headers = {}): Promise<string> {
  const { status, body } = await service.send(event, { key, headers });
  assert.equal(status, 200, JSON.stringify(body));
  return body.ids[0];
}

const event = (id: string, n = 0, name = "shop/order.created") => ({ name, data: { n }, id });

test(
  "ids of events",
  onOneService({
    "a duplicate is answered with the first event's id, whatever its payload or name": async (service) => {
      const first = await idOf(service, event("order-1", 1));
      assert.equal(await idOf(service, event("order-1", 2)), first);
      assert.equal(await idOf(service, event("order-1", 3, "shop/other")), first);
      const list = await service.rest("GET", "/events?id=order-1");
      assert.equal(list.body.data.length, 1);
      assert.equal(list.body.data[0].data.n, 1, "the first payload stays");
      assert.equal(list.body.data[0].duplicates, 2, "suppressed duplicates are counted");
    },

    "two equal ids in one array: the first wins": async (service) => {
      const { body } = await service.send([event("twin", 1), event("other", 2), event("twin", 3)]);
      assert.equal(body.ids[0], body.ids[2]);
      assert.notEqual(body.ids[0], body.ids[1]);
      const list = await service.rest("GET", "/events?id=twin");
      assert.deepEqual([list.body.data.length, list.body.data[0].data.n, list.body.data[0].duplicates], [1, 1, 1]);
    },

    "of concurrent requests with one id exactly one wins": async (service) => {
      const ids = await Promise.all(Array.from({ length: 100 }, (_, n) => idOf(service, event("race", n))));
      assert.equal(new Set(ids).size, 1);
      const { body } = await service.rest("GET", "/events?id=race");
      assert.deepEqual([body.data.length, body.data[0].duplicates], [1, 99]);
    },

    "each environment has its own ids": async (service) => {
      await service.rest("POST", "/environments", { body: { name: "staging", kind: "custom" } });
      const created = await service.rest("POST", "/keys", { body: { kind: "event", name: "s" }, headers: { "x-service-env": "staging" } });
      const here = await idOf(service, event("same"));
      const there = await idOf(service, event("same"), created.body.data.key);
      assert.notEqual(here, there);
    },

    "events without an id are never duplicates": async (service) => {
      const same = { name: "a/b", data: { same: true } };
      assert.notEqual(await idOf(service, same), await idOf(service, same));
    },
  }),
);

test("the window ends 24 h after the first event, to the millisecond, and is not extended by duplicates", async (t) => {
  const clock = heldClock();
  const service = await startTestService(t, { now: clock.now });
  const first = await idOf(service, event("edge"));
  clock.set(DAY_MS / 2);
  assert.equal(await idOf(service, event("edge")), first);
  clock.set(DAY_MS - 1);
  assert.equal(await idOf(service, event("edge")), first);
  clock.set(DAY_MS);
  const second = await idOf(service, event("edge"));
  assert.notEqual(second, first);
  clock.set(2 * DAY_MS - 1);
  assert.equal(await idOf(service, event("edge")), second, "a new window began with the second event");
  const { body } = await service.rest("GET", "/events?id=edge");
  assert.deepEqual(
    body.data.map((stored: { duplicates: number }) => stored.duplicates),
    [1, 2],
  );
});

test("the window is a setting", async (t) => {
  const clock = heldClock();
  const service = await startTestService(t, { now: clock.now, flags: ["--dedup-window", "10s"] });
  const first = await idOf(service, event("short"));
  clock.set(9_999);
  assert.equal(await idOf(service, event("short")), first);
  clock.set(10_000);
  assert.notEqual(await idOf(service, event("short")), first);
});

test("ids are remembered across restarts", async (t) => {
  const dataDir = temporaryFolder(t);
  const before = await startTestService(t, { dataDir });
  const first = await idOf(before, event("restart"));
  await before.stop();
  const after = await startTestService(t, { dataDir });
  assert.equal(await idOf(after, event("restart")), first);
});
