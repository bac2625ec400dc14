/** Idempotency-Key: a client that lost the response asks again, and nothing is created twice. */

import assert from "node:assert/strict";
import { runsOf, startApp } from "./support/app.ts";
import { test } from "./support/both-stores.ts";
import { type Cases, onOneService } from "./support/one-service.ts";
import { type Answer, startTestService, type TestService, temporaryFolder } from "./support/service.ts";
import { storedText } from "./support/store-contents.ts";
import { ECHO, makeWebhook, post, requestsOf } from "./support/webhooks.ts";

const code = ({ status, body }: Answer) => [status, body?.code];

function create(service: TestService, path: string, body: object, key: string, headers: Record<string, string> = {}): Promise<Answer> {
  return service.rest("POST", path, { body, headers: { "Idempotency-Key": key, ...headers } });
}

const count = async (service: TestService, path: string) => (await service.rest("GET", path)).body.data.length;

test("the same call with the same key gets the first response again, also after a restart", async (t) => {
  const dataDir = temporaryFolder(t);
  const service = await startTestService(t, { dataDir });
  const webhook = { name: "w", transform: ECHO };
  const [first, second] = [await create(service, "/webhooks", webhook, "a"), await create(service, "/webhooks", webhook, "a")];
  assert.deepEqual([first.status, second.status], [201, 201]);
  assert.equal(second.text, first.text);
  assert.deepEqual([first.headers.get("idempotency-replayed"), second.headers.get("idempotency-replayed")], [null, "true"]);
  assert.equal((await create(service, "/environments", { name: "staging" }, "b")).status, 201);
  await service.stop();

  const again = await startTestService(t, { dataDir });
  assert.equal((await create(again, "/environments", { name: "staging" }, "b")).status, 201, "not environment_exists");
  assert.equal((await create(again, "/webhooks", webhook, "a")).text.replaceAll(again.url, service.url), first.text);
  assert.equal(await count(again, "/webhooks"), 1);
  assert.equal((await again.rest("GET", "/audit-log?action=webhook.created")).body.data.length, 1);
});

/** Each with keys and names of its own. */
const CASES: Cases = {
  async "running something again happens once, too: a recorded request, a run"(service, t) {
    const webhook = await makeWebhook(service);
    await post(webhook.url);
    const [record] = await requestsOf(service, webhook);
    const repeat = (path: string, key: string) => service.rest("POST", path, { headers: { "Idempotency-Key": key } });
    const replay = `/webhooks/${webhook.id}/requests/${record.id}/replay`;
    const replays = [await repeat(replay, "replay"), await repeat(replay, "replay")];
    assert.deepEqual([replays[0]?.status, replays[0]?.text], [201, replays[1]?.text]);
    assert.equal((await requestsOf(service, webhook)).length, 2);

    await startApp(t, service, (inlet) => [inlet.createFunction({ id: "ship" }, { event: "shop/order.created" }, () => "shipped")]);
    const { body } = await service.send({ name: "shop/order.created", data: {} });
    const [run] = await runsOf(service, body.ids[0]);
    const rerun = `/runs/${run.id}/rerun`;
    const reruns = [await repeat(rerun, "rerun"), await repeat(rerun, "rerun")];
    assert.deepEqual([reruns[0]?.status, reruns[0]?.text], [201, reruns[1]?.text]);
    assert.equal(await count(service, "/runs"), 2);
  },
  async "of calls at the same time one creates; the others are told to wait or get its answer"(service) {
    const before = await count(service, "/webhooks");
    const webhook = { name: "at once", transform: ECHO };
    const answers = await Promise.all(Array.from({ length: 10 }, () => create(service, "/webhooks", webhook, "at-once")));
    assert.equal(await count(service, "/webhooks"), before + 1);
    const ids = new Set(answers.filter(({ status }) => status === 201).map(({ body }) => body.data.id));
    assert.equal(ids.size, 1);
    for (const answer of answers.filter(({ status }) => status !== 201)) {
      assert.deepEqual(code(answer), [409, "idempotency_key_busy"]);
      assert.equal(answer.headers.get("retry-after"), "1");
    }
  },
  async "a key stands for one call of one client"(service) {
    const webhook = { name: "w", transform: ECHO };
    await create(service, "/environments", { name: "one" }, "a");
    assert.deepEqual(code(await create(service, "/environments", { name: "two" }, "a")), [422, "idempotency_key_reused"]);
    assert.deepEqual(code(await create(service, "/webhooks", webhook, "a")), [422, "idempotency_key_reused"]);
    await create(service, "/webhooks", webhook, "b");
    assert.deepEqual(code(await create(service, "/webhooks", webhook, "b", { "x-service-env": "one" })), [422, "idempotency_key_reused"]);
    const other = (await service.rest("POST", "/keys", { body: { kind: "api", name: "other" } })).body.data.key;
    assert.equal((await create(service, "/environments", { name: "two" }, "a", { authorization: `Bearer ${other}` })).status, 201);
    for (const bad of ["", "with space", "x".repeat(256)]) {
      assert.deepEqual(code(await create(service, "/environments", { name: "three" }, bad)), [400, "request_invalid"], bad);
    }
  },
  async "an invocation with data that differs beyond double precision is another one"(service, t) {
    await startApp(t, service, (inlet) => [inlet.createFunction({ id: "exact" }, { event: "shop/exact" }, () => 1)]);
    const invoke = (id: string) =>
      service.rest("POST", "/functions/shop-exact/invoke", { body: `{"data":{"id":${id}}}`, headers: { "Idempotency-Key": "exact" } });
    const [first, again] = [await invoke("9007199254740993"), await invoke("9007199254740993")];
    assert.deepEqual([first.status, again.status, again.text], [201, 201, first.text]);
    assert.deepEqual(code(await invoke("9007199254740992")), [422, "idempotency_key_reused"]);
  },
  async "a call that was refused frees its key"(service) {
    assert.deepEqual(code(await create(service, "/webhooks", { name: "w", transform: "not code" }, "free")), [400, "request_invalid"]);
    assert.equal((await create(service, "/webhooks", { name: "w", transform: ECHO }, "free")).status, 201);
  },
};

test("calls of one service", onOneService(CASES));

test("the secret of a key is not kept: the repeated call learns the id", async (t) => {
  const service = await startTestService(t);
  const first = (await create(service, "/keys", { kind: "event", name: "k" }, "a")).body.data;
  const second = await create(service, "/keys", { kind: "event", name: "k" }, "a");
  assert.deepEqual(code(second), [409, "idempotency_key_used"]);
  assert.deepEqual(second.body.details, [{ field: "id", message: first.id }]);
  assert.ok(second.body.error.includes(first.id) && !second.text.includes(first.key));
  await service.stop();
  const stored = await storedText(service);
  assert.ok(stored.includes(first.id) && !stored.includes(first.key), "the store does not hold the key");
});

test("after 24 hours a key is forgotten", async (t) => {
  let now = Date.now();
  const service = await startTestService(t, { now: () => now });
  const webhook = { name: "w", transform: ECHO };
  await create(service, "/webhooks", webhook, "a");
  now += 24 * 3_600_000 - 1;
  await create(service, "/webhooks", webhook, "a");
  assert.equal(await count(service, "/webhooks"), 1);
  now += 1;
  await create(service, "/webhooks", webhook, "a");
  assert.equal(await count(service, "/webhooks"), 2);
});
