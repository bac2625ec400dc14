import assert from "node:assert/strict";
import test from "node:test";
import { Inlet } from "../client/inlet.ts";
import { createServedApp } from "../serving/served-app.ts";
import { registrationOf } from "./registration.ts";

const inlet = new Inlet({ id: "shop", isDev: true });
const URL_OF_APP = "https://shop.example/api/inlet?tenant=1";

test("a plain function registers its trigger and the URL to call, and leaves the rest to the service", () => {
  const fn = inlet.createFunction({ id: "ship" }, { event: "shop/order.created" }, () => {});
  const url = "https://shop.example/api/inlet?tenant=1&fnId=shop-ship&stepId=step";
  const step = { id: "step", name: "step", runtime: { type: "http", url } };
  assert.deepEqual(registrationOf(fn, URL_OF_APP), [
    { id: "shop-ship", name: "ship", triggers: [{ event: "shop/order.created" }], steps: { step } },
  ]);
});

test("every setting is passed on in the words of the wire", () => {
  const fn = inlet.createFunction(
    {
      id: "all",
      name: "Everything",
      retries: 2,
      concurrency: [{ limit: 5, key: "event.data.shop", scope: "env" }],
      throttle: { limit: 10, period: 60_000, burst: 2, key: "event.data.shop" },
      rateLimit: { limit: 1, period: "1h" },
      debounce: { period: "30s", timeout: "10 minutes" },
      batchEvents: { maxSize: 50, timeout: "5s" },
      priority: { run: "event.data.vip ? 60 : 0" },
      singleton: { key: "event.data.shop", mode: "cancel" },
      idempotency: "event.data.orderId",
      cancelOn: [
        { event: "shop/order.cancelled", match: "data.orderId", timeout: "1d" },
        { event: "shop/closed", if: "async.data.forever" },
        { event: "shop/refused", match: "data.orderId", if: "async.data.n > 3 || async.data.all" },
      ],
      timeouts: { start: "1m", finish: 7_200_000 },
    },
    [{ event: "shop/*", if: "event.data.total > 100" }, { cron: "TZ=Europe/Berlin 0 9 * * 1" }],
    () => {},
  );
  const [{ steps, ...entry } = { steps: null }] = registrationOf(fn, URL_OF_APP) as [{ steps: { step: { retries: unknown } } }];
  assert.deepEqual(steps?.step.retries, { attempts: 2 });
  assert.deepEqual(entry, {
    id: "shop-all",
    name: "Everything",
    triggers: [{ event: "shop/*", expression: "event.data.total > 100" }, { cron: "TZ=Europe/Berlin 0 9 * * 1" }],
    concurrency: [{ limit: 5, key: "event.data.shop", scope: "env" }],
    throttle: { limit: 10, period: "1m", burst: 2, key: "event.data.shop" },
    rateLimit: { limit: 1, period: "1h" },
    debounce: { period: "30s", timeout: "10m" },
    batchEvents: { maxSize: 50, timeout: "5s" },
    priority: { run: "event.data.vip ? 60 : 0" },
    singleton: { key: "event.data.shop", mode: "cancel" },
    idempotency: "event.data.orderId",
    cancel: [
      { event: "shop/order.cancelled", if: "event.data.orderId == async.data.orderId", timeout: "1d" },
      { event: "shop/closed", if: "async.data.forever" },
      { event: "shop/refused", if: "(event.data.orderId == async.data.orderId) && (async.data.n > 3 || async.data.all)" },
    ],
    timeouts: { start: "1m", finish: "2h" },
  });
});

test("onFailure registers a second function that listens for the failures of the first", () => {
  const fn = inlet.createFunction({ id: "ship", onFailure: () => {} }, { event: "shop/order.created" }, () => {});
  const entry = registrationOf(fn, URL_OF_APP)[1];
  assert.equal(entry?.id, "shop-ship-failure");
  assert.equal(entry?.name, "ship (failure)");
  assert.deepEqual(entry?.triggers, [{ event: "inlet/function.failed", expression: "event.data.function_id == 'shop-ship'" }]);
});

test("faults are found where the function is written", () => {
  const make = (config: { id: string; retries?: number }) => inlet.createFunction(config, { event: "x" }, () => {});
  assert.throws(() => make({ id: "it's" }), /The id of a function/);
  assert.throws(() => make({ id: "" }), /The id of a function/);
  assert.throws(() => make({ id: "a", retries: 21 }), /retries must be a whole number from 0 to 20, not 21/);
  assert.throws(() => inlet.createFunction({ id: "a" }, { event: "" }, () => {}), /a trigger is/);
  const limited = () => inlet.createFunction({ id: "a", throttle: { limit: 1, period: "soon" } }, { event: "x" }, () => {});
  assert.throws(limited, /Function "a": throttle\.period: .*soon/);
  const functions = [undefined as never];
  assert.throws(() => createServedApp({ client: inlet, functions }, "test"), /functions\[0\] is not a function of createFunction/);
});
