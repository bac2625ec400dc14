/** Runs of an app that was removed fail or are cancelled, whichever comes first, and give back the slots of the limits they share with others. */

import assert from "node:assert/strict";
import { startApp } from "./support/app.ts";
import { test } from "./support/both-stores.ts";
import { Gate } from "./support/flow-control.ts";
import { until } from "./support/runs.ts";
import { startTestService } from "./support/service.ts";

const RUNS = 1_500;
const SLOTS = 20;
/** Each cancels some of the runs while others of them fail. */
const STOPS = 50;
const concurrency = { limit: SLOTS, key: '"all"', scope: "env" as const };
const cancelOn = [{ event: "shop/stop", if: "async.data.part == event.data.part" }];

test("runs that are cancelled while they fail because their app was removed leave all slots to other apps", async (t) => {
  const service = await startTestService(t);
  const [oldCalls, newCalls] = [new Gate(), new Gate()];
  const make = (id: string, gate: Gate) =>
    startApp(
      t,
      service,
      (inlet) => [inlet.createFunction({ id: "fn", concurrency, cancelOn }, { event: `shop/${id}` }, () => gate.pass(id))],
      { id },
    );
  await make("old", oldCalls);
  await make("new", newCalls);
  const send = async (name: string, count: number, dataOf: (n: number) => object) => {
    const { status, text } = await service.send(Array.from({ length: count }, (_, n) => ({ name, data: dataOf(n) })));
    assert.equal(status, 200, text);
  };
  await send("shop/old", RUNS, (n) => ({ part: n % STOPS }));
  await oldCalls.full(SLOTS);
  const removed = await service.rest("DELETE", "/apps/old");
  assert.equal(removed.status, 200, removed.text);
  oldCalls.open();
  for (let part = 0; part < STOPS; part++) await send("shop/stop", 1, () => ({ part }));
  await until("the end of all runs", async () => {
    const { status, body, text } = await service.rest("GET", "/runs?status=queued&limit=1");
    assert.equal(status, 200, text);
    return body.data.length === 0 ? true : undefined;
  });
  await send("shop/new", SLOTS, () => ({}));
  await newCalls.full(SLOTS);
  newCalls.open();
});
