/** Functions that stand still until a case lets them go on. */

import { type Inlet, NonRetriableError } from "@inlet/sdk";
import type { AnyFunction } from "../app.ts";

export function functionsOf(inlet: Inlet, note: (name: string) => void, released: Promise<void>): AnyFunction[] {
  const plain = (id: string, options: object = {}) =>
    inlet.createFunction({ ...options, id }, { event: `shop/${id}` }, ({ event }) => {
      note(`${id} ${event.data.n}`);
      return event.data.n;
    });
  return [
    plain("debounced", { debounce: { period: "1h" } }),
    plain("throttled", { throttle: { limit: 1, period: "1h" } }),
    plain("once", { idempotency: "event.data.order" }),
    plain("rare", { rateLimit: { limit: 1, period: "1h" } }),
    plain("later"),
    plain("paused"),
    plain("replayed"),
    inlet.createFunction({ id: "batched", batchEvents: { maxSize: 3, timeout: "1h" } }, { event: "shop/batched" }, ({ events }) =>
      events.map(({ data }) => data.n),
    ),
    inlet.createFunction({ id: "yearly" }, { cron: "0 0 1 1 *" }, () => note("yearly")),
    inlet.createFunction(
      { id: "held", ordering: { key: "event.data.customer", onFailure: "hold" } },
      { event: "shop/held" },
      ({ event }) => {
        if (event.data.fails) throw new NonRetriableError("no");
        note("held");
      },
    ),
    inlet.createFunction({ id: "asleep", singleton: { mode: "skip" } }, { event: "shop/asleep" }, async ({ event, step }) => {
      await step.run("before", () => note(`before ${event.data.n}`));
      await step.sleep("rest", "1d");
      await step.run("after", () => note(`after ${event.data.n}`));
    }),
    inlet.createFunction({ id: "waiting" }, { event: "shop/waiting" }, async ({ step }) => {
      const paid = await step.waitForEvent("paid", { event: "shop/paid", if: "async.data.n == event.data.n", timeout: "1d" });
      const approved = await step.waitForApproval("ship", { prompt: "Ship it?", timeout: "1d" });
      return [paid?.data.n, approved?.decision];
    }),
    inlet.createFunction({ id: "called", concurrency: 1 }, { event: "shop/called" }, async ({ event }) => {
      note(`called ${event.data.n}`);
      if (event.data.n === 1) await released;
      return event.data.n;
    }),
  ];
}
