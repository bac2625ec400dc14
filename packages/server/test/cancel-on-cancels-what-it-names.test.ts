/** `cancelOn`: an event cancels the runs that were there before it, within the time that was given, and never the run it starts itself. */

import assert from "node:assert/strict";
import { poll, runsOf, startApp } from "./support/app.ts";
import { test } from "./support/both-stores.ts";
import { startTestService } from "./support/service.ts";

const HOUR_MS = 3_600_000;
const isWaiting = ({ status }: { status: string }) => status === "waiting";

test("an event that starts and cancels the same function replaces its run: it never cancels its own", async (t) => {
  const service = await startTestService(t);
  await startApp(t, service, (inlet) => [
    inlet.createFunction(
      { id: "latest", cancelOn: [{ event: "shop/order", if: "async.data.id == event.data.id" }] },
      { event: "shop/order" },
      async ({ event, step }) => {
        await step.waitForEvent("go", { event: "shop/go", timeout: "1d" });
        return event.data.n;
      },
    ),
  ]);
  const send = async (name: string, data: object) => (await service.send({ name, data })).body.ids[0] as string;
  const first = await send("shop/order", { id: "a", n: 1 });
  await runsOf(service, first, { until: isWaiting });
  const other = await send("shop/order", { id: "b", n: 2 });
  const second = await send("shop/order", { id: "a", n: 3 });
  assert.deepEqual(
    (await runsOf(service, first)).map(({ status }) => status),
    ["cancelled"],
  );
  for (const id of [other, second]) await runsOf(service, id, { until: isWaiting });
  await send("shop/go", {});
  for (const [id, n] of [
    [other, 2],
    [second, 3],
  ] as const) {
    const [run] = await runsOf(service, id);
    assert.deepEqual([run.status, run.output], ["completed", n]);
  }
});

test("events of one batch are in order: each cancels the runs of those before it, and the last run lives", async (t) => {
  const service = await startTestService(t);
  await startApp(t, service, (inlet) => [
    inlet.createFunction({ id: "latest", cancelOn: [{ event: "shop/order" }] }, { event: "shop/order" }, async ({ event, step }) => {
      await step.waitForEvent("go", { event: "shop/go", timeout: "1d" });
      return event.data.n;
    }),
  ]);
  const { body } = await service.send([1, 2, 3].map((n) => ({ name: "shop/order", data: { n } })));
  const [one, two, three] = body.ids as string[];
  for (const id of [one, two]) assert.equal((await runsOf(service, id as string))[0].status, "cancelled");
  await runsOf(service, three as string, { until: isWaiting });
  await service.send({ name: "shop/go", data: {} });
  assert.equal((await runsOf(service, three as string))[0].output, 3);
});

test("with a timeout it cancels for so long after the start, and not a moment longer", async (t) => {
  let now = Date.now();
  const service = await startTestService(t, { now: () => now });
  const condition = { event: "shop/stop", if: "async.data.id == event.data.id" };
  await startApp(t, service, (inlet) =>
    [{ ...condition, timeout: "1h" }, condition].map((cancelOn) =>
      inlet.createFunction(
        { id: "timeout" in cancelOn ? "timed" : "always", cancelOn: [cancelOn] },
        { event: "shop/order" },
        async ({ step }) => void (await step.waitForEvent("go", { event: "shop/go", timeout: "10d" })),
      ),
    ),
  );
  const send = async (name: string, id: string) => (await service.send({ name, data: { id } })).body.ids[0] as string;
  const [early, late] = [await send("shop/order", "early"), await send("shop/order", "late")];
  for (const id of [early, late]) await runsOf(service, id, { count: 2, until: isWaiting });
  now += HOUR_MS - 1;
  await send("shop/stop", "early");
  await runsOf(service, early, { count: 2, until: ({ status }) => status === "cancelled" });
  now += 1;
  await send("shop/stop", "late");
  // The event has done its work when it has cancelled the run without a timeout.
  const runs = await poll(async () => {
    const { data } = (await service.rest("GET", `/events/${late}/runs`)).body;
    return data.some(({ status }: { status: string }) => status === "cancelled") ? data : null;
  }, "the end of the run without a timeout");
  const statuses = runs.map((run: { function: { id: string }; status: string }) => `${run.function.id} ${run.status}`);
  assert.deepEqual(statuses.sort(), ["shop-always cancelled", "shop-timed waiting"]);
});
