/** A run that is not being called says why: what holds it up, by which run, and until when. */

import assert from "node:assert/strict";
import { NonRetriableError } from "@inlet/sdk";
import { poll, type RunView, startApp } from "./support/app.ts";
import { test } from "./support/both-stores.ts";
import { type ServiceClient, startTestService } from "./support/service.ts";

async function runWith(service: ServiceClient, event: object, isWanted: (run: RunView) => boolean): Promise<RunView> {
  const { body } = await service.send(event);
  return poll(async () => {
    const [run] = (await service.rest("GET", `/events/${body.ids[0]}/runs`)).body.data;
    if (!run) return null;
    const details = (await service.rest("GET", `/runs/${run.id}`)).body.data;
    return isWanted(details) ? details : null;
  }, "the run");
}

const waitsFor = (reason: string) => (run: RunView) => run.waiting?.reason === reason;

test("a run says that its function is paused, that its key is on hold and by which run, or that it is due later", async (t) => {
  const service = await startTestService(t);
  await startApp(t, service, (inlet) => [
    inlet.createFunction({ id: "plain" }, { event: "shop/plain" }, () => 1),
    inlet.createFunction(
      { id: "ordered", ordering: { key: "event.data.customer", onFailure: "hold" } },
      { event: "shop/ordered" },
      ({ event }) => {
        if (event.data.fails) throw new NonRetriableError("no");
      },
    ),
  ]);
  const later = await runWith(service, { name: "shop/plain", data: {}, ts: Date.now() + 3_600_000 }, waitsFor("delayed"));
  assert.ok(Date.parse(later.waiting.until) > Date.now() + 3_000_000);

  await service.rest("POST", "/functions/shop-plain/pause");
  const paused = await runWith(service, { name: "shop/plain", data: {} }, (run) => run.waiting !== null);
  assert.deepEqual(paused.waiting, { reason: "function_paused", until: null, runId: null });
  await service.rest("POST", "/functions/shop-plain/resume");
  const resumed = await poll(async () => {
    const { data } = (await service.rest("GET", `/runs/${paused.id}`)).body;
    return data.status === "completed" ? data : null;
  }, "the run to go on");
  assert.equal(resumed.waiting, null);

  const first = await runWith(service, { name: "shop/ordered", data: { customer: "a", fails: true } }, ({ status }) => status === "failed");
  const held = await runWith(service, { name: "shop/ordered", data: { customer: "a" } }, waitsFor("key_on_hold"));
  assert.equal(held.waiting.runId, first.id);
});

test("a run says that a limit is full, that it is throttled, that its key is in use, that it is retried, or that its app is away", async (t) => {
  const service = await startTestService(t, { flags: ["--retry-interval", "1h"] });
  let release = () => {};
  const gate = new Promise<void>((resolve) => (release = resolve));
  const app = await startApp(t, service, (inlet) => [
    inlet.createFunction({ id: "limited", concurrency: 1 }, { event: "shop/limited" }, () => gate),
    inlet.createFunction({ id: "ordered", ordering: { key: "event.data.customer" } }, { event: "shop/ordered" }, () => gate),
    inlet.createFunction({ id: "plain" }, { event: "shop/plain" }, () => 1),
    inlet.createFunction({ id: "throttled", throttle: { limit: 1, period: "1h" } }, { event: "shop/throttled" }, () => 1),
    inlet.createFunction({ id: "fails" }, { event: "shop/failing" }, () => Promise.reject(new Error("no"))),
    inlet.createFunction({ id: "step-fails" }, { event: "shop/failing-step" }, ({ step }) =>
      step.run("a", () => Promise.reject(new Error("no"))),
    ),
    inlet.createFunction({ id: "half" }, { event: "shop/half" }, ({ step }) =>
      Promise.all([step.run("held", () => gate), step.run("fails", () => Promise.reject(new Error("no")))]),
    ),
  ]);
  const isCalled = ({ status, waiting }: RunView) => status === "running" && waiting === null;
  await runWith(service, { name: "shop/limited", data: {} }, isCalled);
  await runWith(service, { name: "shop/limited", data: {} }, waitsFor("limit_full"));
  const first = await runWith(service, { name: "shop/ordered", data: { customer: "a" } }, isCalled);
  const second = await runWith(service, { name: "shop/ordered", data: { customer: "a" } }, waitsFor("key_busy"));
  assert.equal(second.waiting.runId, first.id);
  await runWith(service, { name: "shop/throttled", data: {} }, ({ status }) => status === "completed");
  const throttled = await runWith(service, { name: "shop/throttled", data: {} }, waitsFor("throttled"));
  const minutes = (Date.parse(throttled.waiting.until) - Date.now()) / 60_000;
  assert.ok(minutes > 30 && minutes <= 60, `throttled for ${minutes} min`);
  const retried = await runWith(service, { name: "shop/failing", data: {} }, waitsFor("retry"));
  assert.ok(Date.parse(retried.waiting.until) > Date.now());
  await runWith(service, { name: "shop/failing-step", data: {} }, waitsFor("retry"));
  const half = await runWith(service, { name: "shop/half", data: {} }, ({ attempts }) => attempts.length > 0);
  assert.equal(half.waiting, null, "the app is called for its other step");
  release();
  await app.stop();
  const away = await runWith(service, { name: "shop/plain", data: {} }, waitsFor("app_unreachable"));
  assert.ok(Date.parse(away.waiting.until) > Date.now());
});

test("a run says that its environment is archived, or that its app is called as often at a time as allowed", async (t) => {
  const service = await startTestService(t, { flags: ["--app-calls", "1", "--queue-prefetch", "1"] });
  await service.rest("POST", "/environments", { body: { name: "staging" } });
  const headers = { "x-service-env": "staging" };
  const { key } = (await service.rest("POST", "/keys", { body: { kind: "event", name: "staging" }, headers })).body.data;
  const staging: ServiceClient = {
    url: service.url,
    send: (event) => service.send(event, { key }),
    rest: (method, path, options) => service.rest(method, path, { ...options, headers }),
  };
  let release = () => {};
  const gate = new Promise<void>((resolve) => (release = resolve));
  await startApp(t, service, (inlet) => [inlet.createFunction({ id: "plain" }, { event: "shop/plain" }, () => gate)], {
    environment: "staging",
  });
  await runWith(staging, { name: "shop/plain", data: {} }, ({ status, waiting }) => status === "running" && waiting === null);
  // A node claims calls ahead, here one.
  await staging.send({ name: "shop/plain", data: {} });
  const { id } = await runWith(staging, { name: "shop/plain", data: {} }, waitsFor("app_busy"));
  await service.rest("POST", "/environments/staging/archive");
  release();
  await poll(async () => {
    const { waiting } = (await staging.rest("GET", `/runs/${id}`)).body.data;
    return waiting?.reason === "environment_archived" ? true : null;
  }, "the reason to change");
});
