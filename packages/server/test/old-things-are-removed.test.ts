/** What is older than it shall be kept is removed; what a run that goes on needs is not. */

import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { runsOf, startApp } from "./support/app.ts";
import { test } from "./support/both-stores.ts";
import { until } from "./support/runs.ts";
import { startTestService, type TestService, type TestServiceOptions, temporaryFolder } from "./support/service.ts";
import { makeWebhook, post, requestsOf } from "./support/webhooks.ts";

const LATER_MS = 40 * 86_400_000;
const later = () => Date.now() + LATER_MS;

async function sendOne(service: TestService, name: string): Promise<string> {
  const { body, text } = await service.send({ name, data: {} });
  assert.ok(body?.ids, text);
  return body.ids[0];
}

/** A service with two events and two runs of the first: one has ended, the other sleeps for long. */
async function yesterday(t: TestContext, options: TestServiceOptions) {
  const service = await startTestService(t, options);
  await startApp(t, service, (inlet) => [
    inlet.createFunction({ id: "quick" }, { event: "shop/both" }, () => "done"),
    inlet.createFunction({ id: "quick-alone" }, { event: "shop/alone" }, ({ step }) => step.run("one", () => "done")),
    inlet.createFunction({ id: "sleeper" }, { event: "shop/both" }, ({ step }) => step.sleep("long", "300d")),
  ]);
  const [both, alone] = [await sendOne(service, "shop/both"), await sendOne(service, "shop/alone")];
  const [ended] = await runsOf(service, alone);
  const sleeping = await until("one run sleeps, the other has ended", async () => {
    const { body } = await service.rest("GET", `/events/${both}/runs`);
    const statuses = body.data.map(({ status }: { status: string }) => status).sort();
    return statuses.join() === "completed,sleeping" ? body.data.find(({ status }: { status: string }) => status === "sleeping") : undefined;
  });
  await service.stop();
  return { both, alone, endedRun: ended?.id as string, sleepingRun: sleeping.id as string };
}

test("old events and runs go, those still needed stay", async (t) => {
  const same = { dataDir: temporaryFolder(t) };
  const { both, alone, endedRun, sleepingRun } = await yesterday(t, same);
  const flags = ["--event-retention", "30d", "--run-retention", "30d"];
  const service = await startTestService(t, { ...same, flags, now: later });
  const statusOf = async (path: string) => (await service.rest("GET", path)).status;
  const young = await sendOne(service, "shop/alone");
  await until("the old event is gone", async () => (await statusOf(`/events/${alone}`)) === 404 || undefined);
  await until("the run that has ended is gone", async () => (await statusOf(`/runs/${endedRun}`)) === 404 || undefined);
  assert.equal(await statusOf(`/events/${both}`), 200, "the sleeping run needs its event");
  assert.equal(await statusOf(`/runs/${sleepingRun}`), 200);
  assert.equal(await statusOf(`/events/${young}`), 200);
  const cancelled = await service.rest("POST", `/runs/${sleepingRun}/cancel`);
  assert.equal(cancelled.status, 200, cancelled.text);
});

test("records of webhook requests are kept for as long as is said", async (t) => {
  const same = { dataDir: temporaryFolder(t) };
  const before = await startTestService(t, same);
  const webhook = await makeWebhook(before);
  for (const body of [{ n: 1 }, "not JSON"]) await post(webhook.url, body);
  assert.equal((await requestsOf(before, webhook)).length, 2);
  await before.stop();
  // By default they would be kept for ten days more.
  const service = await startTestService(t, { ...same, flags: ["--request-retention", "10d"], now: () => Date.now() + LATER_MS / 2 });
  const young = await post(webhook.url.replace(before.url, service.url), { n: 2 });
  assert.equal(young.status, 200, young.text);
  const left = await until("the old ones are gone", async () => {
    const found = await requestsOf(service, webhook);
    return found.length === 1 ? found : undefined;
  });
  assert.equal(left[0].eventId, young.body.ids[0], "the young one stays");
});
