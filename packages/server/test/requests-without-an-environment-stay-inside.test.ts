/**
 * A request that names no environment, from a key that may not use the default one: it is about the only environment of the key. If
 * there are several or none, it reads nothing, finds nothing to change and creates nothing; only what is about all environments of the
 * caller finds something.
 */

import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { Inlet } from "@inlet/sdk";
import { runsOf, startApp } from "./support/app.ts";
import { test } from "./support/both-stores.ts";
import { connectMcp } from "./support/mcp.ts";
import { onEnd } from "./support/on-end.ts";
import { freshDatabase } from "./support/postgres.ts";
import { type Answer, startTestService, type TestService } from "./support/service.ts";
import { ECHO } from "./support/webhooks.ts";

/** Comes when there is nothing else to send. */
const HEARTBEAT = ": still here";

const code = ({ status, body }: Answer) => [status, body?.code];
const namesOf = ({ body }: Answer) => body.data.map(({ name }: { name: string }) => name);

/** Requests with a new key that is restricted to these environments, and that name none. */
async function restricted(service: TestService, environments: string[], role = "admin") {
  const made = await service.rest("POST", "/keys", { body: { kind: "api", name: "k", role, environments } });
  assert.equal(made.status, 201, made.text);
  const key = made.body.data.key as string;
  const headers = { authorization: `Bearer ${key}` };
  return { key, rest: (method: string, path: string, body?: object) => service.rest(method, path, { headers, ...(body && { body }) }) };
}

/** An event of each environment, which its name and dedup id tell. */
async function sendToEach(service: TestService, environments: readonly string[]): Promise<Record<string, string>> {
  const ids = environments.map(async (name) => {
    const headers = { "x-service-env": name };
    const sent = await service.rest("POST", "/events", { body: { name: `in/${name}`, data: {}, id: "same" }, headers });
    assert.equal(sent.status, 201, sent.text);
    return [name, sent.body.data.ids[0]] as const;
  });
  return Object.fromEntries(await Promise.all(ids));
}

/** What the stream of all events sends until this comes. */
async function streamedUntil(end: string, t: TestContext, service: TestService, key: string): Promise<string> {
  const controller = new AbortController();
  onEnd(t, () => controller.abort());
  const headers = { authorization: `Bearer ${key}` };
  const response = await fetch(`${service.url}/v1/events/stream?from=0`, { headers, signal: controller.signal });
  assert.equal(response.status, 200);
  let text = "";
  for await (const chunk of (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (text.includes(end)) break;
  }
  return text;
}

/** Writes to one object of each kind in this environment, and the code that says that there is none. */
async function writesById(service: TestService, environment: string, runId: string) {
  const headers = { "x-service-env": environment };
  const made = async (method: string, path: string, body: object) => {
    const answer = await service.rest(method, path, { body, headers });
    assert.ok(answer.status < 300, answer.text);
    return answer.body.data;
  };
  const job = await made("POST", "/jobs", { kind: "events.replay", filter: { name: "none" } });
  const rule = await made("POST", "/alert-rules", { name: "r", kind: "failure_count", threshold: 1, windowSeconds: 60 });
  const approval = await made("POST", "/approvals", { signal: "s", prompt: "Ship?", timeout: "1h" });
  await made("PUT", "/saved-filters", { list: "events", name: "mine", search: {} });
  return [
    ["POST", `/runs/${runId}/steps/any/wake`, undefined, "run_not_found"],
    ["POST", `/runs/${runId}/release`, undefined, "run_not_found"],
    ["POST", `/runs/${runId}/rerun`, undefined, "run_not_found"],
    ["POST", `/runs/${runId}/cancel`, undefined, "run_not_found"],
    ["POST", "/holds/1/release", undefined, "hold_not_found"],
    ["POST", `/jobs/${job.id}/cancel`, undefined, "job_not_found"],
    ["PUT", `/alert-rules/${rule.id}`, { name: "taken" }, "alert_rule_not_found"],
    ["DELETE", `/alert-rules/${rule.id}`, undefined, "alert_rule_not_found"],
    ["POST", `/approvals/${approval.id}`, { decision: "approved" }, "approval_not_found"],
    ["DELETE", "/saved-filters/events/mine", undefined, "saved_filter_not_found"],
    ["POST", "/functions/shop-nap/pause", undefined, "function_not_found"],
    ["POST", "/functions/shop-nap/resume", { held: "cancel" }, "function_not_found"],
    ["POST", "/functions/shop-nap/invoke", {}, "function_not_found"],
    ["PUT", "/functions/shop-nap/limits", { concurrency: 1 }, "function_not_found"],
    ["DELETE", "/apps/shop", undefined, "app_not_found"],
  ] as const;
}

/** A run that sleeps in this environment. */
async function sleepingRun(t: TestContext, service: TestService, environment: string): Promise<string> {
  const nap = (inlet: Inlet) =>
    inlet.createFunction({ id: "nap" }, { event: "nap/now" }, async ({ step }) => {
      await step.sleep("nap", "1h");
    });
  await startApp(t, service, (inlet) => [nap(inlet)], { environment });
  const rest: TestService["rest"] = (method, path, more) =>
    service.rest(method, path, { ...more, headers: { "x-service-env": environment } });
  const sent = await rest("POST", "/events", { body: { name: "nap/now", data: {} } });
  const [run] = await runsOf({ ...service, rest }, sent.body.data.ids[0], { until: ({ status }) => status === "sleeping" });
  return run.id;
}

test("a write to an object finds none, in whichever environment it is", async (t) => {
  const service = await startTestService(t);
  for (const name of ["staging", "orders"]) await service.rest("POST", "/environments", { body: { name } });
  await service.rest("POST", "/environments", { body: { name: "pr-1", kind: "branch" } });
  const { key: several, rest } = await restricted(service, ["staging", "orders"]);
  const branches = await restricted(service, ["orders", "branch"]);
  const viewer = await restricted(service, ["staging", "orders"], "viewer");
  for (const home of ["production", "staging"]) {
    const runId = await sleepingRun(t, service, home);
    const writes = await writesById(service, home, runId);
    for (const [method, path, body, unknown] of writes) {
      const what = `${method} ${path} of ${home}`;
      const answer = await rest(method, path, body);
      assert.deepEqual(code(answer), [404, unknown], what);
      assert.match(answer.body.error, /x-service-env/, what);
      assert.deepEqual(code(await branches.rest(method, path, body)), [404, unknown], what);
      const looking = await viewer.rest(method, path, body);
      assert.deepEqual(code(looking), [403, "role_forbidden"], what);
      for (const [named, refused] of [
        ["orders", [404, unknown]],
        ["production", [403, "environment_forbidden"]],
      ] as const) {
        const headers = { authorization: `Bearer ${several}`, "x-service-env": named };
        const { status, body: refusal } = await service.rest(method, path, { headers, ...(body && { body }) });
        assert.deepEqual([status, refusal.code], refused, `${what}, asked for in ${named}`);
      }
    }
    const headers = { "x-service-env": home };
    const state = async (path: string) => (await service.rest("GET", path, { headers })).body.data;
    assert.equal((await state(`/runs/${runId}`)).status, "sleeping");
    assert.equal((await state("/runs")).length, 1, "none was repeated or invoked");
    assert.deepEqual(
      (await state("/alert-rules")).map(({ name }: { name: string }) => name),
      ["r"],
    );
    assert.equal((await state("/approvals?status=open")).length, 1);
    const { pausedAt, limits } = await state("/functions/shop-nap");
    assert.deepEqual([pausedAt, limits.changedAt], [null, null]);
  }
  const headers = { authorization: `Bearer ${several}`, "x-service-env": "staging" };
  assert.equal((await service.rest("DELETE", "/apps/shop", { headers })).status, 200, "its own, with the environment");

  for (const [home, status] of [
    ["production", 404],
    ["staging", 200],
  ] as const) {
    const there = { "x-service-env": home };
    const webhook = (await service.rest("POST", "/webhooks", { body: { name: "w", transform: ECHO }, headers: there })).body.data;
    const key = (await service.rest("POST", "/keys", { body: { kind: "event", name: "k" }, headers: there })).body.data;
    for (const [method, path] of [
      ["PUT", `/webhooks/${webhook.id}`],
      ["DELETE", `/webhooks/${webhook.id}`],
      ["PUT", `/keys/${key.id}`],
      ["DELETE", `/keys/${key.id}`],
    ] as const) {
      const body = method === "PUT" ? { name: "n" } : undefined;
      assert.equal((await viewer.rest(method, path, body)).status, 403, path);
      assert.equal((await rest(method, path, body)).status, status, `what is found by its id alone: ${method} ${path} of ${home}`);
    }
  }
});

test("the only environment of a key is meant, and nothing outside it is reached", async (t) => {
  const service = await startTestService(t, { heartbeatMs: 50 });
  for (const name of ["staging", "orders"]) await service.rest("POST", "/environments", { body: { name } });
  await service.rest("POST", "/environments", { body: { name: "pr-1", kind: "branch" } });
  const ids = await sendToEach(service, ["production", "staging", "orders", "pr-1"]);
  for (const [pattern, own] of [
    ["staging", "staging"],
    ["orders-*", null],
    ["branch", "pr-1"],
  ] as const) {
    const { rest, key } = await restricted(service, [pattern]);
    const seen = own === null ? [] : [`in/${own}`];
    assert.deepEqual(namesOf(await rest("GET", "/events")), seen);
    assert.deepEqual(namesOf(await rest("GET", "/event-types")), seen);
    assert.deepEqual(namesOf(await rest("GET", "/find?id=same")), seen);
    for (const [name, id] of Object.entries(ids)) {
      const expected = name === own ? [200, undefined] : [404, "event_not_found"];
      assert.deepEqual(code(await rest("GET", `/events/${id}`)), expected, `${pattern} asks for the event of ${name}`);
    }
    const sent = await rest("POST", "/events", { name: "in/sent", data: {} });
    assert.deepEqual(code(sent), own === null ? [403, "environment_forbidden"] : [201, undefined], pattern);
    const stream = await streamedUntil(own === null ? HEARTBEAT : "in/sent", t, service, key);
    for (const [name, id] of Object.entries(ids))
      assert.equal(stream.includes(id), name === own, `${pattern} is sent the event of ${name}`);
  }
  for (const [name, count] of [
    ["production", 1],
    ["staging", 2],
    ["orders", 1],
    ["pr-1", 2],
  ] as const) {
    const { body } = await service.rest("GET", "/events", { headers: { "x-service-env": name } });
    assert.equal(body.data.length, count, name);
  }
  const made = await (await restricted(service, ["staging"])).rest("POST", "/keys", { kind: "event", name: "k" });
  assert.equal(made.body.data.environment, "staging");
  const { rest } = await restricted(service, ["branch"], "viewer");
  assert.deepEqual(code(await rest("POST", "/events", { name: "in/sent", data: {} })), [403, "role_forbidden"]);
});

test("of several environments none is meant", async (t, store) => {
  const service = await startTestService(t, { heartbeatMs: 50 });
  const database = store === "postgres" ? { database: "second" } : {};
  if (store === "postgres") {
    const added = await service.rest("POST", "/databases", { body: { name: "second", url: await freshDatabase(t) } });
    assert.equal(added.status, 201, added.text);
  }
  await service.rest("POST", "/environments", { body: { name: "staging" } });
  await service.rest("POST", "/environments", { body: { name: "orders", ...database } });
  const ids = await sendToEach(service, ["production", "staging", "orders"]);
  const { rest, key } = await restricted(service, ["staging", "orders"]);
  for (const path of [
    "/events",
    "/events?q=in",
    "/runs",
    "/jobs",
    "/functions",
    "/webhooks",
    "/failures",
    "/event-types",
    "/alert-rules",
    "/approvals",
  ]) {
    const answer = await rest("GET", path);
    assert.deepEqual([answer.status, answer.body.data, answer.body.page?.next], [200, [], null], `${path}: ${answer.text}`);
  }
  for (const id of Object.values(ids)) {
    const answer = await rest("GET", `/events/${id}`);
    assert.deepEqual(code(answer), [404, "event_not_found"]);
    assert.match(answer.text, /\(none named: x-service-env chooses one\)/);
    assert.doesNotMatch(await streamedUntil(HEARTBEAT, t, service, key), new RegExp(id));
  }
  for (const [path, body] of [
    ["/events", { name: "in/sent", data: {} }],
    ["/jobs", { kind: "events.replay", filter: {} }],
    ["/keys", { kind: "event", name: "k" }],
    ["/webhooks", { name: "w", transform: ECHO }],
    ["/alert-rules", { name: "r", kind: "failure_count", threshold: 1 }],
  ] as const) {
    const answer = await rest("POST", path, body);
    assert.deepEqual(code(answer), [403, "environment_forbidden"], path);
    assert.match(answer.text, /x-service-env/, path);
  }
  const found = (await rest("GET", "/find?id=same")).body.data.map(({ id }: { id: string }) => id).sort();
  assert.deepEqual(found, [ids.staging, ids.orders].sort());
  const used = (await rest("GET", "/usage")).body.data.map(({ environment }: { environment: string }) => environment).sort();
  assert.deepEqual(used, ["orders", "staging"]);
  const metrics = await restricted(service, ["staging", "orders"], "metrics");
  assert.deepEqual(code(await metrics.rest("GET", "/events")), [403, "role_forbidden"]);
  assert.equal((await service.rest("POST", "/environments/orders/archive")).status, 200);
  assert.deepEqual(namesOf(await rest("GET", "/events")), [], "an archived environment can be read, too");
});

test("a tool call is in the audit log of the environment that it was about", async (t) => {
  const service = await startTestService(t);
  await service.rest("POST", "/environments", { body: { name: "staging" } });
  const { rest, key } = await restricted(service, ["staging"]);
  const client = await connectMcp(t, service.url, key, false);
  assert.deepEqual((await client.call("events_read", {})).value.data, []);
  const log = (await rest("GET", "/audit-log")).body.data as { action: string; environment: string }[];
  assert.deepEqual(
    log.filter(({ action }) => action === "tool.called").map(({ environment }) => environment),
    ["staging"],
  );
});
