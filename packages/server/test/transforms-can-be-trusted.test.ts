/** Managing webhooks and trying transforms out: versions, drafts over recorded requests, replay. */

import assert from "node:assert/strict";
import { test } from "./support/both-stores.ts";
import { onOneService } from "./support/one-service.ts";
import { startTestService } from "./support/service.ts";
import { ECHO, eventOf, makeWebhook, post, requestsOf } from "./support/webhooks.ts";

const named = (name: string) => `(evt) => ({ name: "${name}", data: evt })`;

test("create, read, list, update, delete", async (t) => {
  const service = await startTestService(t, { flags: ["--public-url", "https://in.example.com/"] });
  const webhook = await makeWebhook(service, ECHO, { name: "Stripe", eventNames: { mode: "allow", list: ["a/*"] } });
  assert.match(webhook.url, /^https:\/\/in\.example\.com\/e\/whk_[0-9a-f]{48}$/);
  const { data } = (await service.rest("GET", `/webhooks/${webhook.id}`)).body;
  const fields = [
    "id",
    "name",
    "environment",
    "url",
    "transform",
    "eventNames",
    "ips",
    "enabled",
    "verify",
    "handshake",
    "answer",
    "mirror",
    "reconcile",
    "state",
    "version",
    "createdAt",
    "updatedAt",
  ];
  assert.deepEqual(Object.keys(data), fields);
  assert.deepEqual([data.environment, data.enabled, data.version, data.ips], ["production", true, 1, null]);
  const changed = await service.rest("PUT", `/webhooks/${webhook.id}`, { body: { name: "Stripe live", eventNames: null } });
  assert.deepEqual([changed.body.data.name, changed.body.data.eventNames, changed.body.data.version], ["Stripe live", null, 1]);
  await makeWebhook(service, ECHO, {}, { "x-service-env": "branch" });
  assert.equal((await service.rest("GET", "/webhooks")).body.data.length, 1);
  assert.equal((await service.rest("GET", "/webhooks", { headers: { "x-service-env": "branch" } })).body.data.length, 1);
  assert.equal((await service.rest("DELETE", `/webhooks/${webhook.id}`)).status, 200);
  assert.equal((await service.rest("GET", "/webhooks")).body.data.length, 0);
});

test(
  "transforms are tried and changed",
  onOneService({
    "what cannot be a webhook is refused, a transform with line and column": async (service) => {
      const create = (body: object) => service.rest("POST", "/webhooks", { body: { name: "x", transform: ECHO, ...body } });
      const broken = await create({ transform: "function transform(evt) {\n  return { name: 'a' data: {} };\n}" });
      assert.deepEqual([broken.status, broken.body.code], [400, "request_invalid"]);
      const [detail] = broken.body.details;
      assert.deepEqual([detail.field, detail.line, typeof detail.column], ["transform", 2, "number"]);
      assert.equal((await create({ transform: "const x = 1;" })).status, 400, "no function");
      assert.equal((await create({ name: "" })).status, 400);
      assert.equal((await create({ ips: { mode: "allow", list: ["nonsense"] } })).status, 400);
      assert.equal((await create({ colour: "red" })).status, 400);
      assert.deepEqual([(await create({ environment: "nowhere" })).body.code], ["environment_not_found"]);
      await service.rest("POST", "/environments", { body: { name: "pr-1", kind: "branch" } });
      assert.equal((await create({ environment: "pr-1" })).body.details[0].field, "environment");
    },

    "every change of a transform is a version; older ones can be put in force again": async (service) => {
      const webhook = await makeWebhook(service, named("v/1"));
      const put = async (body: object) => (await service.rest("PUT", `/webhooks/${webhook.id}`, { body })).body.data;
      const name = async () => (await eventOf(service, await post(webhook.url))).name;
      assert.equal((await put({ transform: named("v/2") })).version, 2);
      assert.equal(await name(), "v/2");
      assert.equal((await put({ transform: named("v/2") })).version, 2, "the same text is no new version");
      assert.equal((await put({ version: 1 })).version, 1);
      assert.equal(await name(), "v/1");
      const key = (await service.rest("POST", "/keys", { body: { kind: "api", name: "CI", role: "admin" } })).body.data.key;
      const headers = { authorization: `Bearer ${key}` };
      assert.equal(
        (await service.rest("PUT", `/webhooks/${webhook.id}`, { body: { transform: named("v/3") }, headers })).body.data.version,
        3,
      );
      const versions = (await service.rest("GET", `/webhooks/${webhook.id}/versions`)).body.data;
      assert.deepEqual(
        versions.map(({ version, current, author }: { version: number; current: boolean; author: string }) => [
          version,
          current,
          author === "CI",
        ]),
        [
          [3, true, true],
          [2, false, false],
          [1, false, false],
        ],
      );
      assert.equal((await service.rest("PUT", `/webhooks/${webhook.id}`, { body: { version: 9 } })).body.code, "webhook_version_not_found");
      assert.deepEqual(
        (await requestsOf(service, webhook)).map(({ transformVersion }: { transformVersion: number }) => transformVersion),
        [1, 2],
      );
    },

    "a transform is tried on a payload, in every form, storing nothing": async (service) => {
      const stored = async () => (await service.rest("GET", "/events?limit=100")).body.data.length;
      const before = await stored();
      const trial = async (body: object) => (await service.rest("POST", "/transforms/test", { body })).body.data;
      const echoed = await trial({ transform: ECHO, body: { n: 1 }, headers: { "x-a": "1" }, queryParams: { q: "1", r: ["2", "3"] } });
      assert.equal(echoed.ok, true);
      assert.deepEqual([echoed.event.name, echoed.event.data.evt, echoed.event.data.raw], ["hook/received", { n: 1 }, '{"n":1}']);
      assert.deepEqual([echoed.event.data.headers["X-A"], echoed.event.data.queryParams], ["1", { q: ["1"], r: ["2", "3"] }]);
      const form = await trial({ transform: ECHO, raw: "a=1&a=2", contentType: "application/x-www-form-urlencoded" });
      assert.deepEqual(form.event.data.evt, { a: ["1", "2"] });
      const logged = await trial({ transform: "() => { console.log('a', {b:1}); return { name: 'x', data: {} } }" });
      assert.equal(logged.logs.length, 1);
      const failed = await trial({ transform: "() => {\n\n  throw new Error('x') }", body: {} });
      assert.deepEqual([failed.ok, failed.error.code, failed.error.line, "event" in failed], [false, "transform_failed", 3, false]);
      const unparsable = await trial({ transform: "() => {", body: {} });
      assert.deepEqual([unparsable.ok, unparsable.error.code, typeof unparsable.error.line], [false, "transform_failed", "number"]);
      assert.equal((await trial({ transform: named("inngest/x"), body: {} })).error.code, "transform_invalid_event");
      assert.equal((await trial({ transform: ECHO, raw: "{", contentType: "application/json" })).error.code, "body_invalid");
      assert.equal(await stored(), before);
    },

    "the stored transform, and a recorded request as input": async (service) => {
      const webhook = await makeWebhook(service, named("stored/one"));
      await post(`${webhook.url}?q=1`, { n: 5 });
      const [record] = await requestsOf(service, webhook);
      const stored = await service.rest("POST", `/webhooks/${webhook.id}/test`, { body: { body: { n: 1 } } });
      assert.deepEqual([stored.body.data.event.name, stored.body.data.event.data], ["stored/one", { n: 1 }]);
      const recorded = await service.rest("POST", `/webhooks/${webhook.id}/test`, { body: { requestId: record.id } });
      assert.deepEqual(recorded.body.data.event.data, { n: 5 });
      const draft = await service.rest("POST", "/transforms/test", {
        body: { transform: ECHO, webhookId: webhook.id, requestId: record.id },
      });
      assert.deepEqual([draft.body.data.event.data.evt, draft.body.data.event.data.queryParams], [{ n: 5 }, { q: ["1"] }]);
      const missing = await service.rest("POST", `/webhooks/${webhook.id}/test`, { body: { requestId: "req_none" } });
      assert.deepEqual([missing.status, missing.body.code], [404, "webhook_request_not_found"]);
      assert.equal((await requestsOf(service, webhook)).length, 1, "trials are not recorded");
    },

    "a draft over recent requests: same, different with a diff, now fails, now works, still fails": async (service) => {
      const current = `(evt) => { if (evt.bad || evt.worse) throw new Error("old"); return { name: "a/b", data: { n: evt.n, kept: true } } }`;
      const draft = `(evt) => { if (evt.n === 3 || evt.worse) throw new Error("new"); return { name: "a/b", data: { n: evt.n === 2 ? "two" : evt.n, kept: true } } }`;
      const webhook = await makeWebhook(service, current);
      for (const body of [{ n: 1 }, { n: 2 }, { n: 3 }, { n: 4, bad: true }, { worse: true }]) await post(webhook.url, body);
      const { body } = await service.rest("POST", `/webhooks/${webhook.id}/backtest`, { body: { transform: draft, limit: 10 } });
      const { summary, requests } = body.data;
      assert.deepEqual(summary, { same: 1, different: 1, now_fails: 1, now_works: 1, still_fails: 1 });
      const different = requests.find(({ change }: { change: string }) => change === "different");
      assert.deepEqual(different.diff, [{ path: "data.n", before: 2, after: "two" }]);
      assert.match(requests.find(({ change }: { change: string }) => change === "now_fails").after.error.message, /new/);
      assert.equal((await service.rest("GET", `/events?source=${webhook.id}`)).body.data.length, 3, "only what the real requests made");
    },

    "a recorded request is replayed through the current transform into a new event": async (service) => {
      const webhook = await makeWebhook(service, "() => { throw new Error('not yet') }");
      assert.equal((await post(`${webhook.url}?q=1`, '{"n":12345678901234567890}', { "x-type": "push" })).status, 400);
      const [failed] = await requestsOf(service, webhook);
      const path = `/webhooks/${webhook.id}/requests/${failed.id}/replay`;
      assert.deepEqual((await service.rest("POST", path)).body.code, "transform_failed");
      await service.rest("PUT", `/webhooks/${webhook.id}`, { body: { transform: ECHO } });
      const replayed = await service.rest("POST", path);
      assert.equal(replayed.status, 201);
      const event = (await service.rest("GET", `/events/${replayed.body.data.ids[0]}`)).body.data;
      assert.deepEqual(
        [event.data.raw, event.data.headers["X-Type"], event.data.queryParams],
        ['{"n":12345678901234567890}', "push", { q: ["1"] }],
      );
      const [record] = await requestsOf(service, webhook);
      assert.deepEqual([record.outcome, record.transformVersion], ["accepted", 2], "the replay is on record as well");
    },

    "a client that always says JSON may send no body, and any key in a payload is just a key": async (service) => {
      const webhook = await makeWebhook(service);
      const headers = { "content-type": "application/json" };
      assert.equal((await service.rest("POST", `/webhooks/${webhook.id}/rotate`, { headers })).status, 200);
      const missing = await service.rest("POST", "/webhooks", { headers });
      assert.deepEqual([missing.status, missing.body.code], [400, "request_invalid"]);
      const broken = await service.rest("POST", "/webhooks", { body: "{" });
      assert.deepEqual([broken.status, broken.body.code], [400, "body_invalid"]);
      const odd = await service.rest("POST", "/transforms/test", {
        body: `{"transform":${JSON.stringify(ECHO)},"body":{"__proto__":{"a":1}}}`,
      });
      assert.ok(odd.text.includes('"evt":{"__proto__":{"a":1}}'), odd.text);
      assert.equal((await service.rest("DELETE", `/webhooks/${webhook.id}`, { headers })).status, 200);
    },
  }),
);
