/** A webhook of one environment can mirror its events to branches: marked, in the share asked for, never counted twice, off by default. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { startTestService, type TestService } from "./support/service.ts";
import { makeWebhook, post, requestsOf } from "./support/webhooks.ts";

const NAMED = "(evt) => ({ name: 'shop/order', data: evt, id: evt.id })";

async function eventsIn(service: TestService, environment: string, count: number) {
  for (let tries = 0; ; tries++) {
    const { body } = await service.rest("GET", "/events?limit=100", { headers: { "x-service-env": environment } });
    if (body.data.length >= count || tries > 200) return body.data;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test("copies go to the branches named, marked, and the original counts once", async (t) => {
  const service = await startTestService(t);
  for (const name of ["feature/a", "feature/b", "other"]) await service.rest("POST", "/environments", { body: { name, kind: "branch" } });
  const webhook = await makeWebhook(service, NAMED, { mirror: { to: ["feature/*"] } });
  assert.equal((await post(webhook.url, { id: "o-1", n: 1 })).status, 200);
  assert.equal((await post(webhook.url, { id: "o-1", n: 1 })).status, 200, "the provider sends it again");
  for (const name of ["feature/a", "feature/b"]) {
    const [copy, ...more] = await eventsIn(service, name, 1);
    assert.deepEqual(
      [copy.source, copy.data, more],
      [{ kind: "webhook", id: webhook.id, name: "test hook", mirrored: true }, { id: "o-1", n: 1 }, []],
    );
  }
  assert.deepEqual(await eventsIn(service, "other", 0), []);
  const [original] = await eventsIn(service, "production", 1);
  assert.equal(original.source.mirrored, undefined);
  const records = await requestsOf(service, webhook);
  assert.equal(records.length, 2);
  assert.equal((await service.rest("POST", `/webhooks/${webhook.id}/requests/${records[0].id}/replay`)).status, 201);
  assert.equal((await eventsIn(service, "feature/a", 1)).length, 1, "a replay is not mirrored");
});

test("a share of the events is mirrored; a webhook of all branches cannot mirror", async (t) => {
  const service = await startTestService(t);
  await service.rest("POST", "/environments", { body: { name: "feature/a", kind: "branch" } });
  const webhook = await makeWebhook(service, NAMED, { mirror: { to: ["feature/a"], sample: 0.5 } });
  await Promise.all(Array.from({ length: 60 }, (_, n) => post(webhook.url, { id: `o-${n}` })));
  const some = (await eventsIn(service, "feature/a", 12)).length;
  assert.ok(some >= 12 && some <= 48, `${some} of 60`);
  const create = (body: object) => service.rest("POST", "/webhooks", { body: { name: "w", transform: NAMED, ...body } });
  for (const mirror of [{ to: [] }, { to: ["a"], sample: 0 }, { to: ["a"], sample: 2 }, { to: ["a b"] }, {}]) {
    assert.equal((await create({ mirror })).status, 400, JSON.stringify(mirror));
  }
  assert.equal((await create({ mirror: { to: ["a"] }, environment: "branch" })).status, 400);
  assert.equal(((await makeWebhook(service, NAMED)) as { mirror?: unknown }).mirror, null, "off by default");
});
