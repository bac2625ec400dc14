/** A function that handles cancellations and is itself cancelled does not start itself again. */

import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { startApp } from "./support/app.ts";
import { test } from "./support/both-stores.ts";
import { runsOfFunction, type ShownRun, until } from "./support/runs.ts";
import { startTestService, type TestService } from "./support/service.ts";

interface Scene {
  service: TestService;
  /** Cancels a run of another function. */
  cancelOne(): Promise<void>;
  /** The runs of the function that handles cancellations, oldest first, once they are as expected. */
  handlers(what: string, isExpected: (runs: ShownRun[]) => boolean): Promise<ShownRun[]>;
}

/** The handler waits for `shop/go`. */
async function open(t: TestContext, options: { timeouts: { finish: string } } | { singleton: { mode: "cancel" } }): Promise<Scene> {
  const service = await startTestService(t);
  await startApp(t, service, (inlet) => [
    inlet.createFunction({ id: "order" }, { event: "shop/order" }, async ({ step }) => {
      await step.sleep("long", "1h");
    }),
    inlet.createFunction({ id: "clean-up", ...options }, { event: "inngest/function.cancelled" }, async ({ step }) => {
      await step.waitForEvent("go", { event: "shop/go", timeout: "1d" });
    }),
  ]);
  return {
    service,
    async cancelOne() {
      const { body } = await service.send({ name: "shop/order", data: {} });
      const [run] = await until("a run", async () => {
        const { body: found } = await service.rest("GET", `/events/${body.ids[0]}/runs`);
        return found.data.length > 0 ? (found.data as ShownRun[]) : undefined;
      });
      assert.equal((await service.rest("POST", `/runs/${run?.id}/cancel`)).status, 200);
    },
    handlers: (what, isExpected) =>
      until(what, async () => {
        const runs = (await runsOfFunction(service, "shop-clean-up")).reverse();
        return isExpected(runs) ? runs : undefined;
      }),
  };
}

test("a handler of cancellations that does not end in time is cancelled once", async (t) => {
  const { cancelOne, handlers } = await open(t, { timeouts: { finish: "1s" } });
  await cancelOne();
  const runs = await handlers("a cancelled handler", ([first]) => first?.status === "cancelled");
  // What the end of a run starts is stored with the end.
  assert.equal(runs.length, 1);
});

test("a handler of cancellations whose later run replaces the earlier one does so once", async (t) => {
  const { service, cancelOne, handlers } = await open(t, { singleton: { mode: "cancel" } });
  await cancelOne();
  await handlers("a handler that waits", ([first]) => first?.status === "waiting");
  await cancelOne();
  await handlers("the second in its place", ([first, second]) => first?.status === "cancelled" && second?.status === "waiting");
  await service.send({ name: "shop/go", data: {} });
  const runs = await handlers("the end of the second", ([, second]) => second !== undefined && second.endedAt !== null);
  assert.deepEqual(
    runs.map(({ status }) => status),
    ["cancelled", "completed"],
  );
});
