/** People with a session or an API key send events and invoke single functions, without an event key. */

import assert from "node:assert/strict";
import { hasEnded, poll, type RunView, startApp } from "./support/app.ts";
import { test } from "./support/both-stores.ts";
import { startTestService } from "./support/service.ts";

test("events are sent as they are written, in the sender's name, by those who may change things", async (t) => {
  const service = await startTestService(t);
  const text = '{"name":"shop/paid", "data":{"ledger":9007199254740993,"total":1.10}, "id":"p-1"}';
  const sent = await service.rest("POST", "/events", { body: text });
  assert.equal(sent.status, 201, sent.text);
  const [id] = sent.body.data.ids;
  const stored = await service.rest("GET", `/events/${id}`);
  assert.ok(stored.text.includes('{"ledger":9007199254740993,"total":1.10}'), stored.text);
  assert.equal(stored.body.data.source.kind, "key");
  const again = await service.rest("POST", "/events", { body: text });
  assert.deepEqual(again.body.data.ids, [id], "a duplicate, as for any sender");
  assert.equal(
    (await service.rest("POST", "/events", { body: '[{"name":"a/b","data":{}},{"name":"a/c","data":{}}]' })).body.data.ids.length,
    2,
  );

  for (const [body, code] of [
    ["{", "body_invalid"],
    ['{"data":{}}', "event_invalid"],
    ['{"name":"a/b","data":[]}', "event_invalid"],
  ] as const) {
    const refused = await service.rest("POST", "/events", { body });
    assert.deepEqual([refused.status, refused.body.code], [400, code], refused.text);
  }
  assert.equal((await service.rest("PUT", "/environments/production", { body: { bodyLimitBytes: 1_024 } })).status, 200);
  const large = await service.rest("POST", "/events", { body: JSON.stringify({ name: "a/b", data: { text: "x".repeat(1_024) } }) });
  assert.deepEqual([large.status, large.body.code], [413, "body_too_large"], "the limit of the environment holds here, too");
  const shared = await service.rest("POST", "/events", { body: text, headers: { "x-service-env": "branch" } });
  assert.deepEqual([shared.status, shared.body.code], [404, "environment_not_found"]);
  const key = (await service.rest("POST", "/keys", { body: { kind: "api", name: "reads", role: "viewer" } })).body.data.key;
  const viewer = await service.rest("POST", "/events", { body: text, headers: { authorization: `Bearer ${key}` } });
  assert.deepEqual([viewer.status, viewer.body.code], [403, "role_forbidden"]);
  assert.equal((await service.rest("GET", "/audit-log?action=event.sent")).body.data.length, 3);
});

test("a function is invoked alone", async (t) => {
  const service = await startTestService(t);
  await startApp(t, service, (inlet) => [
    inlet.createFunction({ id: "first" }, { event: "shop/paid" }, ({ event }) => event.data),
    inlet.createFunction({ id: "second" }, { event: "shop/paid" }, () => "not meant"),
  ]);
  const invoked = await service.rest("POST", "/functions/shop-first/invoke", {
    body: '{"data": {"orderId": 7, "ledger": 9007199254740993, "total": 1.10}}',
  });
  assert.equal(invoked.status, 201, invoked.text);
  const run = await poll(async () => {
    const found: RunView = (await service.rest("GET", `/runs/${invoked.body.data.runId}`)).body.data;
    return hasEnded(found) ? found : null;
  }, "the run");
  assert.equal(run.output.orderId, 7);
  const event = await service.rest("GET", `/events/${run.event.id}`);
  assert.ok(event.text.includes('"ledger":9007199254740993,"total":1.10'), event.text);
  assert.equal((await service.rest("GET", "/runs")).body.data.length, 1, "no other function runs");
  assert.equal((await service.rest("POST", "/functions/shop-third/invoke", { body: {} })).body.code, "function_not_found");
  assert.equal((await service.rest("POST", "/functions/shop-first/invoke", { body: { data: [] } })).status, 400);
});
