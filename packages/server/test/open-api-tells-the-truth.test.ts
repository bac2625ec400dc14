/**
 * GET /v1/openapi.json: every route is in it, every operation in it is called here, and what comes back fits what it says.
 *
 * Added a route? Give its schema a `summary` and a `response` (api/route-facts.ts has the words), and add a call of it to CALLS.
 */

import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { PATTERN_SENTENCES } from "../src/api/text-patterns.ts";
import { runsOf, startApp } from "./support/app.ts";
import { test } from "./support/both-stores.ts";
import { openBrowser } from "./support/browser.ts";
import { type OpenApiDocument, type OpenApiOperation, responseCheck } from "./support/closed-schemas.ts";
import { type Answer, API_KEY, call, startTestService, type TestService } from "./support/service.ts";
import { ECHO, makeWebhook, post, UNREACHABLE } from "./support/webhooks.ts";

interface World {
  service: TestService;
  eventId: string;
  webhookId: string;
  branchWebhookId: string;
  requestId: string;
  keyId: string;
  /** One to end by its cookie, one to end by its id. */
  cookie: string;
  sessionId: string;
  appUrl: string;
  endedRunId: string;
  sleepingRunId: string;
  sleepingStepId: string;
  /** One that goes on for long. */
  jobId: string;
  alertRuleId: string;
  approvalId: string;
  heldRunId: string;
  holdId: string;
  signal: string;
}

interface Call {
  /** What stands in the path, in order. */
  path?: (world: World) => string[];
  query?: string;
  body?: object | ((world: World) => object);
  headers?: (world: World) => Record<string, string>;
  status?: number;
}

/** One call that succeeds for every operation. They run in the order of the document, those that end something last. */
const CALLS: Readonly<Record<string, Call>> = {
  "GET /v1/openapi.json": {},
  "GET /v1/events": { query: "?name=shop/*&limit=5" },
  "GET /v1/events/{id}": { path: ({ eventId }) => [eventId] },
  "GET /v1/events/run-counts": { query: "?ids=01J00000000000000000000000" },
  "GET /v1/events/stream": {},
  "GET /v1/transforms/providers": {},
  "GET /v1/environments": {},
  "POST /v1/environments": { body: { name: "staging" }, status: 201 },
  "GET /v1/databases": {},
  // An embedded store takes no other: this URL is refused on either.
  "POST /v1/databases": { body: { name: "eu", url: "none" }, status: 400 },
  "GET /v1/environments/{name}": { path: () => ["staging"] },
  "PUT /v1/environments/{name}": { path: () => ["staging"], body: { bodyLimitBytes: 1000 } },
  "POST /v1/environments/{name}/archive": { path: () => ["staging"] },
  "POST /v1/environments/{name}/unarchive": { path: () => ["staging"] },
  "POST /v1/environments/{name}/move": { path: () => ["staging"], body: { database: "none" }, status: 404 },
  "GET /v1/keys": {},
  "POST /v1/keys": { body: { kind: "event", name: "k", ips: { mode: "deny", list: ["10.0.0.0/8"] } }, status: 201 },
  "GET /v1/keys/{id}": { path: ({ keyId }) => [keyId] },
  "PUT /v1/keys/{id}": { path: ({ keyId }) => [keyId], body: { name: "renamed" } },
  "DELETE /v1/keys/{id}": { path: ({ keyId }) => [keyId] },
  "GET /v1/webhooks": {},
  "POST /v1/webhooks": { body: { name: "w", transform: ECHO }, status: 201 },
  "GET /v1/webhooks/health": {},
  "POST /v1/events": { body: { name: "a/b", data: {} }, status: 201 },
  "POST /v1/functions/{id}/invoke": { path: () => ["shop-ship"], body: { data: {} }, status: 201 },
  "GET /v1/webhooks/{id}": { path: ({ webhookId }) => [webhookId] },
  "PUT /v1/webhooks/{id}": { path: ({ webhookId }) => [webhookId], body: { name: "renamed" } },
  "POST /v1/webhooks/{id}/rotate": { path: ({ webhookId }) => [webhookId] },
  "GET /v1/webhooks/{id}/versions": { path: ({ webhookId }) => [webhookId] },
  "GET /v1/webhooks/{id}/requests": { path: ({ webhookId }) => [webhookId] },
  "GET /v1/webhooks/{id}/requests/{requestId}": { path: ({ webhookId, requestId }) => [webhookId, requestId] },
  "POST /v1/webhooks/{id}/requests/{requestId}/replay": { path: ({ webhookId, requestId }) => [webhookId, requestId], status: 201 },
  "POST /v1/webhooks/{id}/test": { path: ({ webhookId }) => [webhookId], body: { body: {} } },
  "POST /v1/webhooks/{id}/backtest": {
    path: ({ webhookId }) => [webhookId],
    body: { transform: "function transform() { return { name: 'a/b', data: {} }; }" },
  },
  "POST /v1/webhooks/{id}/drill": {
    path: ({ branchWebhookId }) => [branchWebhookId],
    body: { environment: "feature/drilled", kinds: ["samples"] },
    status: 202,
  },
  "POST /v1/webhooks/{id}/reconcile": { path: ({ webhookId }) => [webhookId], body: { since: "2026-01-01" }, status: 202 },
  "GET /v1/webhooks/{id}/reconciliations": { path: ({ webhookId }) => [webhookId] },
  "POST /v1/transforms/test": { body: { transform: "function transform() { throw new Error('no'); }" } },
  "POST /v1/session": { body: { apiKey: API_KEY }, status: 201 },
  "GET /v1/session": {},
  "GET /v1/sessions": {},
  "GET /v1/role-rules": {},
  "GET /v1/webhooks/{id}/stats": { path: ({ webhookId }) => [webhookId], query: "?points=4" },
  "GET /v1/webhooks/{id}/rhythm": { path: ({ webhookId }) => [webhookId] },
  "GET /v1/webhooks/{id}/requests/stream": { path: ({ webhookId }) => [webhookId] },
  "GET /v1/functions": {},
  "GET /v1/functions/figures": { query: "?ids=shop-ship,shop-none" },
  "GET /v1/functions/{id}": { path: () => ["shop-ship"] },
  "GET /v1/functions/{id}/stats": { path: () => ["shop-ship"], query: "?interval=hour" },
  "GET /v1/apps": {},
  "POST /v1/apps": { body: ({ appUrl }) => ({ url: appUrl }), status: 201 },
  "GET /v1/runs": { query: "?status=completed&function=shop-ship&limit=5" },
  "GET /v1/runs/stream": {},
  "GET /v1/runs/{id}": { path: ({ endedRunId }) => [endedRunId] },
  "GET /v1/events/{id}/runs": { path: ({ eventId }) => [eventId] },
  "GET /v1/holds": { query: "?function=shop-hold" },
  "POST /v1/holds/{id}/release": { path: ({ holdId }) => [holdId] },
  "POST /v1/runs/{id}/release": { path: ({ heldRunId }) => [heldRunId] },
  "GET /v1/saved-filters": {},
  "PUT /v1/saved-filters": { body: { list: "runs", name: "failed", search: { status: "failed" } } },
  "DELETE /v1/saved-filters/{list}/{name}": { path: () => ["runs", "failed"] },
  "GET /v1/alert-rules": {},
  "POST /v1/alert-rules": { body: { name: "r", kind: "failure_count", threshold: 5 }, status: 201 },
  "GET /v1/alert-rules/{id}": { path: ({ alertRuleId }) => [alertRuleId] },
  "PUT /v1/alert-rules/{id}": { path: ({ alertRuleId }) => [alertRuleId], body: { enabled: false } },
  "DELETE /v1/alert-rules/{id}": { path: ({ alertRuleId }) => [alertRuleId] },
  "GET /v1/alerts": {},
  "GET /v1/failures": {},
  "PUT /v1/failures": { body: { function: "shop-ship", pattern: "Error: *", state: "ignored" } },
  "GET /v1/find": { query: "?id=order-1" },
  "POST /v1/functions/{id}/pause": { path: () => ["shop-ship"] },
  "PUT /v1/functions/{id}/limits": { path: () => ["shop-ship"], body: { concurrency: 5 } },
  "POST /v1/functions/{id}/resume": { path: () => ["shop-ship"], body: { held: "cancel" } },
  "POST /v1/jobs": { body: { kind: "runs.rerun", filter: { status: "failed" }, rate: 10 }, status: 202 },
  "GET /v1/jobs": { query: "?status=completed" },
  "GET /v1/jobs/{id}": { path: ({ jobId }) => [jobId] },
  "POST /v1/jobs/{id}/cancel": { path: ({ jobId }) => [jobId] },
  "GET /v1/runs/{id}/copy": { path: ({ endedRunId }) => [endedRunId] },
  "POST /v1/runs/{id}/rerun": { path: ({ endedRunId }) => [endedRunId], status: 201 },
  "POST /v1/runs/{id}/steps/{stepId}/wake": { path: ({ sleepingRunId, sleepingStepId }) => [sleepingRunId, sleepingStepId] },
  "POST /v1/runs/{id}/cancel": { path: ({ sleepingRunId }) => [sleepingRunId] },
  "GET /v1/approvals": { query: "?status=open" },
  "GET /v1/approvals/count": {},
  "GET /v1/approvals/{id}": { path: ({ approvalId }) => [approvalId] },
  "POST /v1/approvals": { body: { signal: "s", prompt: "Go?", data: [1], timeout: "1h" }, status: 201 },
  "POST /v1/approvals/{id}": { path: ({ approvalId }) => [approvalId], body: { decision: "approved", comment: "c", data: 1 } },
  "POST /v1/signals": { body: ({ signal }) => ({ signal, data: { n: 1 } }) },
  "DELETE /v1/apps/{id}": { path: () => ["shop"] },
  "GET /v1/event-types": {},
  "GET /v1/event-types/{name}": { path: () => ["shop/order.created"] },
  "GET /v1/event-types/{name}/rhythm": { path: () => ["shop/order.created"] },
  "GET /v1/event-types/{name}/waiting": { path: () => ["shop/order.created"] },
  "PUT /v1/event-types/{name}": { path: () => ["shop/order.created"], body: { schema: { type: "object" }, mode: "warn", retention: "7d" } },
  "GET /v1/event-schemas": {},
  "GET /v1/event-types/{name}/versions": { path: () => ["shop/order.created"] },
  "GET /v1/event-types/{name}/compare": { path: () => ["shop/order.created"], query: "?from=1&to=shape" },
  "POST /v1/event-types/{name}/check": { path: () => ["shop/order.created"], body: { data: {} } },
  "GET /v1/stats": { query: "?interval=hour" },
  "GET /v1/usage": { query: "?by=key" },
  "GET /v1/audit-log": { query: "?action=webhook.*" },
  "DELETE /v1/session": { headers: ({ cookie }) => ({ authorization: "", cookie, "sec-fetch-site": "same-origin" }) },
  "DELETE /v1/sessions/{id}": { path: ({ sessionId }) => [sessionId] },
  "DELETE /v1/webhooks/{id}": { path: ({ webhookId }) => [webhookId] },
};

/** Operations that are asked by POST but leave everything as it is. All others are expected in the audit log. */
const CHANGE_NOTHING = [
  "POST /v1/databases",
  "POST /v1/environments/{name}/move",
  "POST /v1/event-types/{name}/check",
  "POST /v1/transforms/test",
  "POST /v1/webhooks/{id}/test",
  "POST /v1/webhooks/{id}/backtest",
];

function operationsOf(document: OpenApiDocument): [string, OpenApiOperation][] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, OpenApiOperation] => [`${method.toUpperCase()} ${path}`, operation]),
  );
}

async function documentOf(service: TestService): Promise<OpenApiDocument> {
  const { status, body } = await call(`${service.url}/v1/openapi.json`);
  assert.equal(status, 200, "open to all, without a key");
  return body;
}

async function makeWorld(t: TestContext, service: TestService): Promise<World> {
  const app = await startApp(t, service, (inlet) => [
    inlet.createFunction({ id: "ship" }, { event: "shop/order.created" }, ({ step }) => step.run("label", () => ({ n: 1 }))),
    inlet.createFunction({ id: "hold", retries: 0, ordering: { key: "event.data.n", onFailure: "hold" } }, { event: "shop/hold" }, () => {
      throw new Error("no");
    }),
    inlet.createFunction({ id: "approve" }, { event: "shop/approve" }, ({ step }) =>
      step.waitForSignal("approval", { signal: "approve", timeout: "1d" }),
    ),
    inlet.createFunction({ id: "nap" }, { event: "shop/nap" }, async ({ step }) => {
      await step.sleep("long", "1d");
      await step.sleep("longer", "1d");
    }),
  ]);
  const sent = await service.send({ name: "shop/order.created", id: "order-1", data: { n: 1 }, user: { id: 7 }, v: "1" });
  const webhook = await makeWebhook(service, ECHO, { reconcile: UNREACHABLE });
  await post(webhook.url, { hello: "world" });
  await post(webhook.url, "not json");
  await service.rest("POST", "/environments", { body: { name: "feature/drilled", kind: "branch" } });
  const ofBranch = await makeWebhook(service, ECHO, { environment: "branch" });
  await post(ofBranch.url, { hello: "branch" });
  const { body } = await service.rest("GET", `/webhooks/${webhook.id}/requests?outcome=accepted`);
  const key = await service.rest("POST", "/keys", { body: { kind: "api", name: "r", role: "read" } });
  const browsers = [openBrowser(service.url), openBrowser(service.url)];
  for (const browser of browsers) await browser.signIn({ apiKey: API_KEY });
  const sessions = await service.rest("GET", "/sessions");
  const nap = await service.send({ name: "shop/nap", data: {} });
  const [ended] = await runsOf(service, sent.body.ids[0]);
  const approve = await service.send({ name: "shop/approve", data: {} });
  await runsOf(service, approve.body.ids[0], { until: ({ status }) => status === "waiting" });
  const [sleeping] = await runsOf(service, nap.body.ids[0], { until: ({ status }) => status === "sleeping" });
  // So many, at one a second, that the job goes on until it is cancelled, however long that takes.
  await service.send(Array.from({ length: 600 }, () => ({ name: "filler/sent", data: {} })));
  const job = await service.rest("POST", "/jobs", { body: { kind: "events.replay", filter: { name: "filler/sent" }, rate: 1 } });
  const held = await service.send([1, 2].map((n) => ({ name: "shop/hold", data: { n } })));
  const [[failed], [other]] = await Promise.all(held.body.ids.map((id: string) => runsOf(service, id)));
  const holds: { id: string; runId: string }[] = (await service.rest("GET", "/holds")).body.data;
  const alertRule = await service.rest("POST", "/alert-rules", { body: { name: "a", kind: "queue_age", threshold: 60 } });
  const approval = await service.rest("POST", "/approvals", { body: { signal: "go", prompt: "Go?", timeout: "1h" } });
  return {
    service,
    approvalId: approval.body.data.id,
    jobId: job.body.data.id,
    alertRuleId: alertRule.body.data.id,
    appUrl: app.url,
    endedRunId: ended.id,
    sleepingRunId: sleeping.id,
    sleepingStepId: sleeping.steps[0].id,
    heldRunId: failed.id,
    holdId: holds.find(({ runId }) => runId === other.id)?.id ?? "",
    signal: "approve",
    eventId: sent.body.ids[0],
    webhookId: webhook.id,
    branchWebhookId: ofBranch.id,
    requestId: body.data[0].id,
    keyId: key.body.data.id,
    cookie: browsers[0]?.cookie() ?? "",
    sessionId: sessions.body.data[0].id,
  };
}

function pathOf(name: string, { path = () => [], query = "" }: Call, world: World): string {
  const parts = path(world).map(encodeURIComponent);
  return (
    name
      .split(" ")[1]
      ?.replace("/v1", "")
      .replace(/\{\w+\}/g, () => parts.shift() ?? "") + query
  );
}

/** Without notes on keys that go on working: these are written in the background. */
async function lastAuditEntry(service: TestService): Promise<string | undefined> {
  const entries: { id: string; action: string }[] = (await service.rest("GET", "/audit-log?limit=5")).body.data;
  return entries.find(({ action }) => action !== "key.proved")?.id;
}

/** A stream does not end by itself: its beginning has to do. */
async function callOperation(name: string, how: Call, world: World, operation: OpenApiOperation): Promise<Answer> {
  const { service } = world;
  if (!operation.responses["200"]?.content["text/event-stream"]) {
    const { headers = () => ({}) } = how;
    const body = typeof how.body === "function" ? how.body(world) : how.body;
    return service.rest(name.split(" ")[0] ?? "", pathOf(name, how, world), {
      ...(body !== undefined && { body }),
      headers: headers(world),
    });
  }
  const controller = new AbortController();
  const response = await fetch(`${service.url}/v1${pathOf(name, how, world)}`, {
    headers: { authorization: "Bearer test-api-key" },
    signal: controller.signal,
  });
  controller.abort();
  return { status: response.status, headers: response.headers, text: "", body: "" };
}

test("every route says what it does, what it is given and what it answers", async (t) => {
  const document = await documentOf(await startTestService(t));
  const missing = operationsOf(document).flatMap(([name, { summary, responses }]) => [
    ...(summary ? [] : [`${name}: add schema.summary, one line on what it does`]),
    ...(Object.keys(responses).some((status) => status.startsWith("2"))
      ? []
      : [`${name}: add schema.response, such as { 200: dataOf(…) }`]),
    ...(CALLS[name] ? [] : [`${name}: add a call of it to CALLS in this file`]),
  ]);
  assert.deepEqual(missing, []);
  const documented = new Set(operationsOf(document).map(([name]) => name));
  assert.deepEqual(
    Object.keys(CALLS).filter((name) => !documented.has(name)),
    [],
    "the document has every operation that is called here",
  );

  const parameters = (path: string, method = "get") =>
    (document.paths[path]?.[method]?.parameters ?? []).map((one) => `${one.in} ${one.name}`);
  assert.deepEqual(parameters("/v1/events/{id}"), ["path id", "header x-service-env"]);
  assert.ok(parameters("/v1/events").includes("query q"));
  assert.ok(!parameters("/v1/environments").includes("header x-service-env"), "environments are the installation's");
  const body = document.paths["/v1/webhooks"]?.post?.requestBody?.content["application/json"]?.schema;
  assert.deepEqual(body?.required, ["name", "transform"]);
  assert.ok(document.components.schemas.Event && document.components.schemas.Error);
  const ids = operationsOf(document).map(([, { operationId }]) => operationId);
  assert.equal(new Set(ids).size, ids.length);
  for (const [, ref] of JSON.stringify(document).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
    assert.ok(document.components.schemas[ref ?? ""], ref);
  }
});

test("every pattern that a text in a request must match has a sentence", async (t) => {
  const patterns = patternsIn(await documentOf(await startTestService(t)));
  assert.ok(patterns.size > 7, [...patterns].join(" "));
  const missing = [...patterns].filter((pattern) => PATTERN_SENTENCES[pattern] === undefined);
  assert.deepEqual(missing, [], "add them to api/text-patterns.ts");
});

function patternsIn(value: unknown): Set<string> {
  const found = new Set<string>();
  JSON.stringify(value, (key, inside) => {
    if (key === "pattern" && typeof inside === "string") found.add(inside);
    return inside;
  });
  return found;
}

test("every operation answers as the document says, and so does every refusal", async (t) => {
  const service = await startTestService(t);
  const document = await documentOf(service);
  const operations = new Map(operationsOf(document));
  const faultsOf = responseCheck(document);
  const world = await makeWorld(t, service);
  // That this key goes on working beside the wrong ones below is noted once.
  await service.rest("GET", "/events", { headers: { authorization: "Bearer no" } });
  await service.rest("GET", "/events");
  for (const [name, how] of Object.entries(CALLS)) {
    const operation = operations.get(name);
    if (!operation) continue;
    const before = await lastAuditEntry(service);
    const answer = await callOperation(name, how, world, operation);
    assert.equal(answer.status, how.status ?? 200, `${name}: ${answer.text}`);
    const [[contentType, { schema }] = ["", { schema: {} }]] = Object.entries(operation.responses[answer.status]?.content ?? {});
    assert.equal(answer.headers.get("content-type")?.split(";")[0], contentType, name);
    assert.deepEqual(faultsOf(schema, answer.body), [], name);
    const isChange = !name.startsWith("GET ") && !CHANGE_NOTHING.includes(name);
    assert.equal((await lastAuditEntry(service)) !== before, isChange, `${name}: note what changes by parts.audit.note(request, …)`);

    const refused = await service.rest(name.split(" ")[0] ?? "", `${pathOf(name, { ...how, query: "" }, world)}?unknown=1`, {
      ...(how.body !== undefined && { body: how.body }),
    });
    assert.equal(refused.status, 400, `${name} refuses an unknown parameter`);
    assert.deepEqual(faultsOf(operation.responses[400]?.content["application/json"]?.schema ?? {}, refused.body), [], name);
    if (!name.startsWith("GET ") && !operation.requestBody) {
      const [method = ""] = name.split(" ");
      const withBody = await service.rest(method, pathOf(name, how, world), { body: { unknown: 1 } });
      assert.deepEqual(
        [withBody.status, withBody.body.details],
        [400, [{ field: "unknown", message: "is not a known parameter or field: check its spelling" }]],
        name,
      );
    }
    if (operation.security?.length === 0) continue;
    const stranger = await service.rest(name.split(" ")[0] ?? "", pathOf(name, how, world), { headers: { authorization: "Bearer no" } });
    assert.ok(operation.responses[stranger.status], `${name} documents ${stranger.status}`);
    assert.ok([401, 429].includes(stranger.status), name);
  }
});
