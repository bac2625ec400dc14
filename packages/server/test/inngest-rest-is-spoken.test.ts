/**
 * Inngest's REST API: who brings a signing key, in any of the forms its clients send it, gets the shapes its documentation gives; who
 * brings an API key gets ours. Bulk cancellations are kept, and concern the runs that existed when they were made.
 */

import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { type CancellationId, type EnvironmentId, signingKeyBearers } from "@inlet/protocol";
import { openSqliteStore } from "../src/store/sqlite/sqlite-store.ts";
import { poll, runsOf, startApp } from "./support/app.ts";
import { test } from "./support/both-stores.ts";
import { type Cases, onOneService } from "./support/one-service.ts";
import { openPatientStore } from "./support/postgres.ts";
import { type Answer, call, SIGNING_KEY, startTestService, type TestService, temporaryFolder } from "./support/service.ts";

const HOUR_MS = 3_600_000;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const ULID = /^[0-9A-HJKMNP-TV-Z]{26}$/;

type Peer = (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Answer>;

function peerOf(service: TestService, bearer = SIGNING_KEY): Peer {
  return (method, path, body, headers = {}) =>
    call(`${service.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${bearer}`, ...(body !== undefined && { "content-type": "application/json" }), ...headers },
      ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
}

async function startShop(t: TestContext, service: TestService): Promise<void> {
  await startApp(t, service, (inlet) => [
    inlet.createFunction({ id: "ship" }, { event: "shop/order" }, ({ step }) => step.run("label", () => ({ label: 7 }))),
    inlet.createFunction({ id: "fail", retries: 0 }, { event: "shop/bad" }, () => {
      throw new Error("no card");
    }),
    inlet.createFunction({ id: "nap" }, { event: "shop/nap" }, ({ step }) => step.sleep("long", "1d")),
  ]);
}

const CASES: Cases = {
  async "every form of a signing key gets Inngest's shapes, an API key ours, a wrong one 401"(service) {
    const { body } = await service.send({ name: "shop/order", data: { n: 1 } });
    for (const bearer of signingKeyBearers(SIGNING_KEY)) {
      const { status, body: answer } = await peerOf(service, bearer)("GET", `/v1/events/${body.ids[0]}`);
      assert.equal(status, 200);
      assert.equal(answer.data.internal_id, body.ids[0], bearer);
    }
    const ours = await service.rest("GET", `/events/${body.ids[0]}`);
    assert.equal(ours.body.data.receivedAt.length, 24);
    assert.equal(ours.body.data.internal_id, undefined);
    const wrong = await peerOf(service, `signkey-prod-${"ff".repeat(32)}`)("GET", "/v1/events");
    assert.equal(wrong.status, 401);
    assert.deepEqual([wrong.body.data, wrong.body.status, typeof wrong.body.error], [null, 401, "string"]);
    const none = await call(`${service.url}/v1/events`, { headers: { "x-inngest-sdk": "inngest-js:v4" } });
    assert.deepEqual([none.status, none.body.code], [401, "api_key_missing"], "headers of an SDK are no credential");
  },
  async "runs: of an event with their output, one, its jobs, and cancelling it"(service, t) {
    const peer = peerOf(service);
    await startShop(t, service);
    const order = (await service.send({ name: "shop/order", data: {} })).body.ids[0];
    const bad = (await service.send({ name: "shop/bad", data: {} })).body.ids[0];
    const nap = (await service.send({ name: "shop/nap", data: {} })).body.ids[0];
    await runsOf(service, order);
    await runsOf(service, bad);
    await runsOf(service, nap, { until: ({ status }) => status === "sleeping" });

    const [run] = (await peer("GET", `/v1/events/${order}/runs`)).body.data;
    assert.deepEqual([run.status, run.output, run.event_id, run.cron, run.batch_id], ["Completed", { label: 7 }, order, null, null]);
    for (const field of ["function_id", "environment_id"]) assert.match(run[field], UUID);
    assert.ok(Date.parse(run.ended_at) >= Date.parse(run.run_started_at));
    assert.equal(run.function_version, 1);
    assert.deepEqual((await peer("GET", `/v1/runs/${run.run_id}`)).body.data, run);
    const [failed] = (await peer("GET", `/v1/events/${bad}/runs`)).body.data;
    assert.deepEqual([failed.status, failed.output.message], ["Failed", "no card"]);

    const [napping] = (await peer("GET", `/v1/events/${nap}/runs`)).body.data;
    assert.deepEqual([napping.status, napping.output, napping.ended_at], ["Running", null, null]);
    const [job] = (await peer("GET", `/v1/runs/${napping.run_id}/jobs`)).body.data;
    assert.deepEqual([job.position, job.attempt, Date.parse(job.at) > Date.now() + 3_600_000], [0, 1, true]);
    assert.equal((await peer("DELETE", `/v1/runs/${napping.run_id}`)).status, 200);
    assert.equal((await peer("GET", `/v1/runs/${napping.run_id}`)).body.data.status, "Cancelled");
    assert.deepEqual((await peer("GET", `/v1/runs/${napping.run_id}/jobs`)).body.data, []);
    assert.equal((await peer("DELETE", `/v1/runs/${napping.run_id}`)).status, 409);
    assert.equal((await peer("GET", "/v1/runs/01ARZ3NDEKTSV4RRFFQ69G5FAV")).status, 404);
    const { body } = await service.rest("GET", "/audit-log?action=run.cancelled");
    assert.deepEqual([body.data[0].actor.kind, body.data[0].target.id], ["signing-key", napping.run_id]);
  },
  async "apps and functions are listed, and a function is invoked once for a key"(service, t) {
    const peer = peerOf(service);
    await startShop(t, service);
    const functions = await peer("GET", "/v1/apps/shop/functions");
    assert.deepEqual(functions.body.map(({ id }: { id: string }) => id).sort(), ["shop-fail", "shop-nap", "shop-ship"]);
    assert.match(functions.body[0].internal_id, UUID);
    const apps = await peer("GET", "/v2/apps");
    assert.deepEqual([apps.body.data[0].id, apps.body.data[0].functionCount, apps.body.page.hasMore], ["shop", 3, false]);
    const second = await peer("GET", "/v2/apps/shop/functions?limit=2");
    assert.deepEqual([second.body.data.length, second.body.page.hasMore], [2, true]);
    assert.equal((await peer("GET", `/v2/apps/shop/functions?cursor=${second.body.page.cursor}`)).body.data.length, 1);
    assert.deepEqual((await peer("GET", "/v2/apps/shop/functions/ship")).body.data.triggers, [{ type: "EVENT", value: "shop/order" }]);

    for (const path of ["/v1/apps/shop/functions/ship/invoke", "/v2/apps/shop/functions/shop-ship/invoke"]) {
      const { status, body, text } = await peer("POST", path, { data: { by: "hand" } });
      assert.equal(status, 200, text);
      const run = await poll(async () => {
        const { data } = (await peer("GET", `/v1/runs/${body.data.runId}`)).body;
        return data?.status === "Completed" ? data : null;
      }, "the invoked run");
      const event = (await peer("GET", `/v1/events/${run.event_id}`)).body.data;
      assert.deepEqual([event.name, event.data.by], ["inngest/function.invoked", "hand"]);
    }
    const once = { data: {}, idempotencyKey: "k1" };
    // A sender's id is no idempotency key, whatever it is.
    await service.send({ name: "shop/other", data: {}, id: "shop-ship/k1" });
    const made = await peer("POST", "/v2/apps/shop/functions/ship/invoke", once);
    const again = await peer("POST", "/v2/apps/shop/functions/ship/invoke", once);
    assert.deepEqual([made.status, again.status, again.body.errors[0].code], [200, 409, "invocation_repeated"]);
    assert.ok(again.body.errors[0].message.includes(made.body.data.runId));
    assert.equal((await peer("POST", "/v2/apps/shop/functions/ship/invoke", { ...once, idempotencyKey: "k2" })).status, 200);
    const { body: sent } = await service.send({ name: "shop/other", data: { n: 2 }, id: "shop-ship/k2" });
    assert.equal((await service.rest("GET", `/events/${sent.ids[0]}`)).body.data.data.n, 2);
    assert.equal((await peer("POST", "/v2/apps/shop/functions/none/invoke", { data: {} })).body.errors[0].code, "function_not_found");
    assert.equal((await peer("POST", "/v2/apps/shop/functions/ship/invoke", {})).status, 400);
  },
  async "features of the published SDKs that are not supported say what to do instead"(service) {
    const peer = peerOf(service);
    for (const [method, path] of [
      ["POST", "/v2/sandboxes"],
      ["GET", "/v2/sandboxes/4711/processes/1"],
      ["GET", "/v2/snapshots?limit=5"],
    ] as const) {
      const { status, body } = await peer(method, path, method === "POST" ? {} : undefined);
      assert.deepEqual([status, body.errors[0].code], [501, "sdk_feature_unsupported"], path);
      assert.match(body.errors[0].message, /step\.run/);
    }
    for (const path of ["/v1/checkpoint", "/v1/http/runs", "/v1/runs/01ARZ3NDEKTSV4RRFFQ69G5FAV/metadata"]) {
      const { status, body } = await peer("POST", path, {});
      assert.deepEqual([status, body.code, body.data], [501, "sdk_feature_unsupported", null], path);
    }
    assert.equal((await peerOf(service, `signkey-prod-${"ff".repeat(32)}`)("GET", "/v2/sandboxes")).status, 401);
  },
  async "a bulk cancellation that makes no sense is refused, with the field"(service, t) {
    const peer = peerOf(service);
    await startShop(t, service);
    // The clock of a database may differ a little from ours.
    const now = Date.now() - HOUR_MS;
    const good = { app_id: "shop", function_id: "nap", started_before: new Date(now).toISOString() };
    const faults: [object, number, RegExp][] = [
      [{ ...good, app_id: undefined }, 400, /^app_id is required/],
      [{ ...good, started_before: undefined }, 400, /^started_before is required/],
      [{ ...good, started_before: new Date(now + 2 * HOUR_MS).toISOString() }, 400, /^started_before must be in the past/],
      [{ ...good, started_after: new Date(now + 1_000).toISOString() }, 400, /^started_after must be before/],
      [{ ...good, if: "event.data.(" }, 400, /^if is not a valid expression/],
      [{ ...good, function_id: "none" }, 404, /^function not found/],
    ];
    for (const [body, status, message] of faults) {
      const refused = await peer("POST", "/v1/cancellations", body);
      assert.equal(refused.status, status, refused.text);
      assert.match(refused.body.error, message);
      assert.deepEqual([refused.body.data, refused.body.status], [null, status]);
    }
    assert.equal((await peer("POST", "/v1/cancellations", "not json")).status, 400);
  },
};

test("requests to one service", onOneService(CASES));

test("in dev the headers of an SDK, or any signing key, get Inngest's shapes", async (t) => {
  const service = await startTestService(t, { mode: "dev" });
  await service.send({ name: "shop/order", data: {} });
  const bySdk = await call(`${service.url}/v1/events`, { headers: { "x-inngest-sdk": "inngest-js:v4.0.0" } });
  assert.match(bySdk.body.data[0].internal_id, ULID);
  const byKey = await peerOf(service, "signkey-test-1234")("GET", "/v1/events");
  assert.match(byKey.body.data[0].internal_id, ULID);
  assert.equal((await call(`${service.url}/v1/events`)).body.data[0].internal_id, undefined);
});

test("events: list with filters and cursor, one, and what is not there", async (t) => {
  const service = await startTestService(t);
  const peer = peerOf(service);
  const ids: string[] = [];
  for (let n = 0; n < 5; n++) {
    const sent = await service.send({
      name: n === 4 ? "shop/other" : "shop/order",
      id: `order-${n}`,
      data: { n, big: 1 },
      user: { id: n },
    });
    ids.push(sent.body.ids[0]);
  }
  const all = await peer("GET", "/v1/events");
  assert.deepEqual(
    all.body.data.map((event: { internal_id: string }) => event.internal_id),
    [...ids].reverse(),
  );
  assert.match(all.body.metadata.fetched_at, /^\d{4}-/);
  assert.equal(all.body.metadata.fetchedAt, all.body.metadata.fetched_at);
  const [newest] = all.body.data;
  assert.deepEqual([newest.id, newest.name, newest.data, newest.user], ["order-4", "shop/other", { n: 4, big: 1 }, { id: 4 }]);
  for (const field of ["account_id", "accountID", "environment_id", "environmentID", "source_id", "sourceID"])
    assert.match(newest[field], UUID);
  assert.deepEqual([newest.source, newest.received_at], ["key", newest.receivedAt]);

  const first = (await peer("GET", "/v1/events?name=shop/order&limit=2")).body.data;
  const second = (await peer("GET", `/v1/events?name=shop/order&limit=2&cursor=${first[1].internal_id}`)).body.data;
  assert.deepEqual(
    [...first, ...second].map(({ data }) => data.n),
    [3, 2, 1, 0],
  );
  const later = new Date(Date.now() + 60_000).toISOString();
  assert.deepEqual((await peer("GET", `/v1/events?received_after=${later}`)).body.data, []);
  assert.equal((await peer("GET", `/v1/events?received_before=${later}&unknown=1`)).body.data.length, 5);

  const missing = await peer("GET", "/v1/events/01ARZ3NDEKTSV4RRFFQ69G5FAV");
  assert.deepEqual([missing.status, missing.body.error, missing.body.data, missing.body.status], [404, "Event not found", null, 404]);
  assert.equal((await peer("GET", "/v1/events/nonsense")).status, 400);
  assert.equal((await peer("GET", "/v1/events", undefined, { "x-inngest-env": "nowhere" })).status, 404);
});

/** Writes a cancellation as a node does that then dies. */
async function keep(where: TestService, { function_id, started_before, if: expression }: Record<string, string>) {
  const hooks = { onFault: () => undefined, onRecovery: () => undefined };
  const { databaseUrl: url, dataDir: folder } = where;
  const store = url === undefined ? openSqliteStore({ folder, ...hooks }) : await openPatientStore({ url, ...hooks });
  const [environment] = (await store.environmentList()).filter(({ name }) => name === "production");
  await store.cancellationInsert({
    id: "7ZZZZZZZZZZZZZZZZZZZZZZZZZ" as CancellationId,
    environmentId: environment?.id as EnvironmentId,
    functionId: function_id as string,
    startedAfter: null,
    startedBefore: Date.parse(started_before as string),
    expression: expression as string,
    createdAt: Date.now(),
    endedAt: null,
  });
  await store.stop();
}

test("a bulk cancellation cancels what existed and matches, also after a restart", async (t) => {
  const store = { dataDir: temporaryFolder(t) };
  const service = await startTestService(t, store);
  const peer = peerOf(service);
  await startShop(t, service);
  const sent = await service.send([1, 2, 3].map((n) => ({ name: "shop/nap", data: { n } })));
  const statusOf = async (id: string, there = service) => (await there.rest("GET", `/events/${id}/runs`)).body.data[0].status;
  const startedAt: number[] = [];
  for (const id of sent.body.ids) {
    const [run] = await runsOf(service, id, { until: ({ status }) => status === "sleeping" });
    startedAt.push(Date.parse(run.startedAt));
  }
  // By the clock of the service: that of a database may differ a little from ours.
  const before = new Date(Math.max(...startedAt) + 1).toISOString();
  const wanted = { app_id: "shop", function_id: "nap", started_before: before, if: "event.data.n != 2" };
  const made = await peer("POST", "/v1/cancellations", wanted);
  assert.equal(made.status, 200, made.text);
  assert.deepEqual([made.body.data.function_id, made.body.data.if], ["shop-nap", "event.data.n != 2"]);
  assert.match(made.body.data.id, ULID);
  const [one, two, three] = sent.body.ids;
  for (const id of [one, three]) await poll(async () => ((await statusOf(id)) === "cancelled" ? true : null), "the cancellation");
  const later = (await service.send({ name: "shop/nap", data: { n: 4 } })).body.ids[0];
  await runsOf(service, later, { until: ({ status }) => status === "sleeping" });
  assert.deepEqual([await statusOf(two), await statusOf(later)], ["sleeping", "sleeping"], "others go on");

  // Kept by a node that died before it came to it: the next start goes on with it.
  await service.stop();
  await keep(service, { ...made.body.data, if: "event.data.n == 2" });
  const again = await startTestService(t, store);
  await poll(async () => ((await statusOf(two, again)) === "cancelled" ? true : null), "the cancellation");
  const listed = await peerOf(again)("GET", "/v1/cancellations");
  assert.deepEqual(
    listed.body.data.map((cancellation: { if: string }) => cancellation.if),
    ["event.data.n == 2", "event.data.n != 2"],
  );
  const { id } = listed.body.data[0];
  assert.deepEqual((await peerOf(again)("DELETE", `/v1/cancellations/${id}`)).body.data, { ok: true });
  assert.equal((await peerOf(again)("DELETE", `/v1/cancellations/${id}`)).status, 404);
  assert.equal((await peerOf(again)("GET", "/v1/cancellations")).body.data.length, 1);
});

test("a wrong key is refused before its body is read, and guessing is slowed down", async (t) => {
  // On a slow machine, time would forgive some attempts.
  const now = Date.now();
  const service = await startTestService(t, { now: () => now });
  const stranger = peerOf(service, `signkey-prod-${"ee".repeat(32)}`);
  const large = await stranger("POST", "/v1/cancellations", "x".repeat(900_000));
  assert.equal(large.status, 401);
  const statuses = new Set<number>();
  for (let n = 0; n < 20; n++) statuses.add((await stranger("GET", "/v1/events")).status);
  assert.deepEqual([...statuses], [401, 429]);
  assert.equal((await peerOf(service)("GET", "/v1/events")).status, 200, "the right key goes on working");
});
