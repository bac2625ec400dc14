/** The page of a run shows every call of its app: what was asked, what came back, also when nothing did. */

import assert from "node:assert/strict";
import { poll, runsOf, startApp } from "./support/app.ts";
import { test } from "./support/both-stores.ts";
import { startTestService, type TestService } from "./support/service.ts";

const QUICK = ["--retry-interval", "10ms"];

async function callsOf(service: TestService, runId: string) {
  const { status, body } = await service.rest("GET", `/runs/${runId}`);
  assert.equal(status, 200);
  return body.data.calls;
}

async function sendOne(service: TestService, name: string): Promise<string> {
  return (await service.send({ name, data: {} })).body.ids[0];
}

test("calls that went well and calls that failed, with what they were given and what they answered", async (t) => {
  const service = await startTestService(t, { flags: QUICK });
  let tries = 0;
  const long = "é".repeat(5_000);
  await startApp(t, service, (inlet) => [
    inlet.createFunction({ id: "ship" }, { event: "shop/order.created" }, async ({ step }) => {
      await step.run("label", () => "L-1");
      await step.run("pick", () => {
        if (++tries === 1) throw new Error("the robot stumbled");
      });
      return long;
    }),
  ]);
  const [run] = await runsOf(service, await sendOne(service, "shop/order.created"));
  const calls = await callsOf(service, run.id);
  const shown = calls.map(({ attempt, outcome, httpStatus, request }: (typeof calls)[0]) => [
    attempt,
    outcome,
    httpStatus,
    request.steps.length,
  ]);
  assert.deepEqual(shown, [
    [0, "ok", 206, 0],
    [0, "error", 206, 1],
    [1, "ok", 206, 1],
    [0, "ok", 200, 2],
  ]);
  assert.deepEqual(
    calls[3].request.steps,
    run.steps.map(({ id }: { id: string }) => id),
  );
  assert.match(calls[0].request.path, /^\/api\/inlet\?.*fnId=shop-ship/);
  assert.match(calls[0].answer.body, /"L-1"/);
  assert.match(calls[1].answer.body, /the robot stumbled/);
  assert.deepEqual([calls[3].answer.body, calls[3].answer.length], [`"${long}"`.slice(0, 4_000), 5_002]);
  for (const { startedAt, endedAt } of calls) assert.ok(Date.parse(endedAt) >= Date.parse(startedAt));
});

test("a call without a response has none, and the failed attempt says why", async (t) => {
  const service = await startTestService(t, { flags: ["--retry-interval", "1h"] });
  const app = await startApp(t, service, (inlet) => [inlet.createFunction({ id: "ship" }, { event: "shop/gone" }, () => "never")]);
  await app.stop();
  const isTried = ({ status }: { status: string }) => status === "running";
  const eventId = await sendOne(service, "shop/gone");
  const run = await poll(async () => {
    const [found] = await runsOf(service, eventId, { until: isTried });
    return found.attempts.length > 0 ? found : null;
  }, "the call to fail");
  const [{ outcome, httpStatus, answer, startedAt }] = run.calls;
  assert.deepEqual([run.calls.length, outcome, httpStatus, answer], [1, "error", null, null]);
  assert.deepEqual([run.attempts[0].startedAt, run.attempts[0].error.name], [startedAt, "NoResponse"]);
});

test("a call that is under way when its run is cancelled is there with how it ended, and changes nothing", async (t) => {
  const service = await startTestService(t);
  const gate = Promise.withResolvers<void>();
  const [shipCalled, failCalled] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await startApp(t, service, (inlet) => [
    inlet.createFunction({ id: "ship" }, { event: "shop/slow" }, async ({ step }) => {
      shipCalled.resolve();
      await gate.promise;
      await step.run("label", () => "L-1");
    }),
    inlet.createFunction({ id: "fail", retries: 0 }, { event: "shop/slow" }, async () => {
      failCalled.resolve();
      await gate.promise;
      throw new Error("too late anyway");
    }),
  ]);
  const eventId = await sendOne(service, "shop/slow");
  await Promise.all([shipCalled.promise, failCalled.promise]);
  const { data } = (await service.rest("GET", `/events/${eventId}/runs`)).body;
  for (const { id } of data) assert.equal((await service.rest("POST", `/runs/${id}/cancel`)).status, 200);
  gate.resolve();
  const runs = await poll(async () => {
    const found = await runsOf(service, eventId, { count: 2 });
    return found.every(({ calls }) => calls.length > 0) ? found : null;
  }, "the calls to be kept");
  const [fail, ship] = runs.sort((a, b) => a.function.id.localeCompare(b.function.id));
  assert.deepEqual([ship.status, ship.steps, ship.attempts, ship.calls.length], ["cancelled", [], [], 1]);
  assert.deepEqual([ship.calls[0].outcome, ship.calls[0].httpStatus], ["ok", 206]);
  assert.match(ship.calls[0].answer.body, /"L-1"/);
  assert.ok(ship.calls[0].endedAt >= ship.endedAt);
  assert.deepEqual([fail.status, fail.calls[0].outcome, fail.calls[0].httpStatus], ["cancelled", "error", 500]);
  assert.equal(fail.attempts[0].error.message, "too late anyway");
});
