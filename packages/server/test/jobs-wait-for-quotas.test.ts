/** Items of jobs that a quota of a second has no room for are taken again, each once; those over a quota of a day fail. */

import assert from "node:assert/strict";
import { awayFromMidnight } from "./support/away-from-midnight.ts";
import { test } from "./support/both-stores.ts";
import { pagesOf, sourceOf, startProvider } from "./support/provider.ts";
import { until } from "./support/runs.ts";
import { startTestService, type TestService } from "./support/service.ts";
import { makeWebhook, post, requestsOf, type TestWebhook } from "./support/webhooks.ts";

const ITEMS = 12;

async function setQuotas(service: TestService, quotas: object): Promise<void> {
  assert.equal((await service.rest("PUT", "/environments/production", { body: { quotas } })).status, 200);
}

async function jobEnded(service: TestService, path: string, body: object) {
  const answer = await service.rest("POST", path, { body });
  assert.equal(answer.status, 202, answer.text);
  return until("the end of the job", async () => {
    const { data } = (await service.rest("GET", `/jobs/${answer.body.data.id}`)).body;
    return data.endedAt === null ? undefined : data;
  });
}

function replayed(service: TestService, { id }: TestWebhook) {
  return jobEnded(service, "/jobs", { kind: "requests.replay", filter: { webhook: id } });
}

const eventsOf = async (service: TestService) => (await service.rest("GET", "/events?limit=100")).body.data.length;

test("a replay of requests is as slow as a quota of a second, and ends with one of a day", async (t) => {
  await awayFromMidnight();
  const service = await startTestService(t, {});
  const webhook = await makeWebhook(service);
  for (let n = 0; n < ITEMS; n++) assert.equal((await post(webhook.url, { n })).status, 200);
  await setQuotas(service, { eventsPerSecond: 5 });
  const job = await replayed(service, webhook);
  assert.deepEqual([job.status, job.done, job.failed, job.errors], ["completed", ITEMS, 0, []]);
  assert.equal(await eventsOf(service), 2 * ITEMS);
  const outcomes = (await requestsOf(service, webhook, "limit=100")).map(({ outcome }: { outcome: string }) => outcome);
  assert.ok(!outcomes.includes("quota_exceeded"), "an item that waits is not recorded as refused");

  await setQuotas(service, { eventsPerSecond: null, eventsPerDay: 2 * ITEMS });
  const over = await replayed(service, webhook);
  assert.deepEqual([over.status, over.failed], ["completed", over.total]);
  assert.match(over.errors[0].message, /quota of the environment "production": eventsPerDay/);
});

test("a reconciliation is as slow as a quota of a second", async (t) => {
  const service = await startTestService(t, {});
  const items = Array.from({ length: ITEMS }, (_, n) => ({ own: `item ${n}`, n }));
  const provider = await startProvider(t, pagesOf(items, ITEMS));
  const webhook = await makeWebhook(service, undefined, { reconcile: { source: sourceOf(provider) } });
  await setQuotas(service, { eventsPerSecond: 5 });
  const job = await jobEnded(service, `/webhooks/${webhook.id}/reconcile`, { since: "2020-01-01T00:00:00Z" });
  assert.deepEqual([job.status, job.done, job.failed], ["completed", ITEMS, 0]);
  const [pass] = (await service.rest("GET", `/webhooks/${webhook.id}/reconciliations`)).body.data;
  assert.deepEqual([pass.listed, pass.seen, pass.recovered, pass.failed], [ITEMS, 0, ITEMS, 0]);
  assert.equal(await eventsOf(service), ITEMS);
  assert.equal((await requestsOf(service, webhook, "limit=100")).length, ITEMS);
});
