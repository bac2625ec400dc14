/**
 * An agent that uses the Model Context Protocol reaches what its API key reaches by REST, and gets the same responses: in every revision of
 * the protocol, within its role and environments, in pieces that a model can read. Every call is in the audit log.
 */

import assert from "node:assert/strict";
import { test as nodeTest } from "node:test";
import type { Inlet } from "@inlet/sdk";
import { type AnyFunction, poll, type RunView, runsOf, startApp } from "./support/app.ts";
import { test } from "./support/both-stores.ts";
import { connectMcp, type McpClient } from "./support/mcp.ts";
import { API_KEY, call, EVENT_KEY, SIGNING_KEY, startTestService, type TestService } from "./support/service.ts";
import { ECHO, makeWebhook, post } from "./support/webhooks.ts";

const RESPONSE_UNITS_MAX = 20_000;
const READ = "events runs failures functions webhooks requests event_types jobs alerts figures usage audit_log"
  .split(" ")
  .map((one) => `${one}_read`);
const WRITE = { runs: ["rerun", "cancel"], requests: ["replay"], functions: ["pause", "resume"], jobs: ["cancel", "start"] };
const REVISIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", "2024-10-07"];

test("tools of MCP, for every kind of caller", async (t, store) => {
  const service = await startTestService(t, { flags: ["--mcp", "write"] });
  await service.rest("POST", "/environments", { body: { name: "staging" } });
  const admin = await connectMcp(t, service.url, API_KEY);
  const key = (extra: object) => service.rest("POST", "/keys", { body: { kind: "api", name: "agent", ...extra } });
  const viewerKey = (await key({ role: "viewer" })).body.data;
  const viewer = await connectMcp(t, service.url, viewerKey.key);

  await t.test("revisions", () => revisionsAgree(service, admin));
  await t.test("the list of tools", () => toolsAreListed(admin));
  await t.test("answers are those of REST", () => answersAreThoseOfRest(service, viewer, viewerKey.key));
  await t.test("long responses come in pieces", () => longAnswersComeInPieces(service, viewer));
  await t.test("a viewer changes nothing", () => viewerChangesNothing(service, viewer));
  await t.test("an operator stays in its environment", async () => {
    const { body } = await key({ role: "operator", environments: ["staging"] });
    await operatorStaysInside(service, await connectMcp(t, service.url, body.data.key, false));
  });
  await t.test("a caller without a key is refused", () => callersNeedAKey(service));
  await t.test("calls are in the audit log", () => callsAreInTheAuditLog(service, viewer, viewerKey.id));
  await t.test("hostile frames end in answers", () => hostileFramesAreAnswered(service, admin));
  if (store === "sqlite") await t.test("webhooks, requests and jobs are changed", () => thingsAreChanged(service, admin));
  await t.test("runs are changed and explained", async () => {
    const app = await startApp(t, service, shopFunctions);
    const [run] = await runsOf(service, (await service.send({ name: "shop/paid", data: { order: 1 } })).body.ids[0]);
    await runsAreChanged(service, admin, run);
    await causesAreExplained(service, viewer, run, () => app.replace(shopFunctions(app.client, "the card has expired")));
  });
});

function shopFunctions(client: Inlet, failure: string | null = null): AnyFunction[] {
  return [
    client.createFunction({ id: "ship", retries: 0 }, { event: "shop/paid" }, async ({ step }) =>
      step.run("charge", () => {
        if (failure !== null) throw new Error(failure);
        return "ok";
      }),
    ),
    client.createFunction({ id: "audit" }, { event: "shop/*", if: "event.data.amount > 100" }, async () => null),
  ];
}

async function runsAreChanged(service: TestService, admin: McpClient, run: RunView): Promise<void> {
  const again = await admin.call("runs_write", { action: "rerun", id: run.id });
  assert.deepEqual([again.isError, again.value.data.event], [false, run.event]);
  assert.notEqual(again.value.data.id, run.id);
  await runsOf(service, run.event.id, { count: 2 });
  const ended = await admin.call("runs_write", { action: "cancel", id: run.id });
  assert.deepEqual([ended.isError, ended.value.code], [true, "run_ended"]);
  const paused = await admin.call("functions_write", { action: "pause", id: run.function.id });
  assert.ok(paused.value.data.pausedAt);
  assert.equal((await admin.call("functions_write", { action: "resume", id: run.function.id })).value.data.pausedAt, null);
}

async function causesAreExplained(service: TestService, viewer: McpClient, success: RunView, breakApp: () => Promise<void>): Promise<void> {
  await breakApp();
  const { ids } = (await service.send({ name: "shop/paid", data: { order: "2", note: "x".repeat(30_000) } })).body;
  const [failed] = await runsOf(service, ids[0]);
  const { isError, text, value } = await viewer.call("explain_run", { id: failed.id });
  assert.ok(!isError && text.length <= RESPONSE_UNITS_MAX, text.slice(0, 300));
  const { run, event, steps, calls, sinceLastSuccess: since } = value.data;
  assert.deepEqual([run.status, run.error.message, event.id, event.truncated], ["failed", "the card has expired", ids[0], true]);
  assert.deepEqual([steps[0].name, calls.length > 0], ["charge", true]);
  assert.equal((await service.rest("GET", `/runs/${since.run}`)).body.data.status, "completed");
  assert.deepEqual(since.payload, { added: ["data.note"], removed: [], retyped: ["data.order: number → string"] });
  assert.ok(since.changes.some(({ action }: { action: string }) => action === "app.synced"));
  assert.equal(since.event.name, success.event.name);

  const explained = (await viewer.call("explain_event", { id: ids[0] })).value.data;
  assert.deepEqual(
    explained.started.map((one: { run: string }) => one.run),
    [failed.id],
  );
  const [audit, ship] = explained.subscribed.toSorted((a: { function: string }, b: { function: string }) =>
    a.function.localeCompare(b.function),
  );
  assert.deepEqual([ship.outcome, ship.run], ["started", failed.id]);
  assert.match(audit.why, /condition does not hold for this event: event\.data\.amount > 100/);
  assert.equal(explained.event.source.kind, "key");
  const other = (await service.send({ name: "nobody/cares", data: {} })).body.ids[0];
  assert.match((await viewer.call("explain_event", { id: other })).value.data.why, /No function .* nobody\/cares/);
  assert.equal((await viewer.call("explain_event", { id: other, environment: "staging" })).value.code, "event_not_found");
  assert.equal((await viewer.call("explain_run", { id: "../events" })).value.code, "run_not_found");
  assert.equal((await viewer.call("explain_run", { id: failed.id, wrong: 1 })).value.code, "request_invalid");
}

nodeTest("a dev server is open to programs of its machine, and reads only unless told otherwise", async (t) => {
  let passedMs = 0;
  const service = await startTestService(t, { mode: "dev", now: () => Date.now() + passedMs, sweepEveryMs: 50 });
  const { client, call: ask } = await connectMcp(t, service.url, null);
  assert.equal((await ask("events_read")).isError, false);
  const { tools } = await client.listTools();
  assert.deepEqual(
    tools.filter(({ annotations }) => annotations?.readOnlyHint !== true),
    [],
  );
  await assert.rejects(ask("runs_write", { action: "cancel", id: "x" }), /There is no tool/);
  await service.rest("POST", "/environments", { body: { name: "staging" } });
  const actions = async () => (await service.rest("GET", "/audit-log")).body.data.map(({ action }: { action: string }) => action);
  assert.ok((await actions()).includes("tool.called"));
  passedMs = 91 * 86_400_000;
  await poll(async () => ((await actions()).includes("tool.called") ? null : true), "the entries of calls to be removed");
  assert.ok((await actions()).includes("environment.created"), "changes stay");
});

nodeTest("--mcp off leaves nothing at /mcp", async (t) => {
  const service = await startTestService(t, { flags: ["--mcp", "off"] });
  for (const method of ["GET", "POST", "DELETE"]) {
    const { status, body } = await call(`${service.url}/mcp`, { method, headers: { authorization: `Bearer ${API_KEY}` } });
    assert.deepEqual([status, body.code], [404, "route_not_found"], method);
  }
});

async function revisionsAgree(service: TestService, { client }: McpClient): Promise<void> {
  assert.equal(client.getNegotiatedProtocolVersion(), "2026-07-28");
  for (const revision of REVISIONS) {
    const params = { protocolVersion: revision, capabilities: {}, clientInfo: { name: "t", version: "1" } };
    const opened = await frame(service, { jsonrpc: "2.0", id: 1, method: "initialize", params });
    assert.equal(messageOf(opened.text).result.protocolVersion, revision);
    const headers = { "mcp-protocol-version": revision };
    const listed = await frame(service, { jsonrpc: "2.0", id: 2, method: "tools/list" }, headers);
    assert.ok(messageOf(listed.text).result.tools.length > READ.length, revision);
    assert.equal(listed.headers.get("mcp-session-id"), null);
  }
}

async function toolsAreListed({ client }: McpClient): Promise<void> {
  const { tools } = await client.listTools();
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  for (const name of READ) {
    const tool = byName.get(name);
    assert.equal(tool?.annotations?.readOnlyHint, true, name);
    assert.ok(tool?.description && "environment" in (tool.inputSchema.properties ?? {}), name);
  }
  for (const [resource, actions] of Object.entries(WRITE)) {
    const tool = byName.get(`${resource}_write`);
    assert.deepEqual(actionsOf(tool), actions);
    assert.equal(tool?.annotations?.readOnlyHint, false);
    assert.equal(tool?.annotations?.destructiveHint, resource !== "requests", resource);
  }
  assert.deepEqual(actionsOf(byName.get("webhooks_write")), ["test", "save"]);
  for (const name of byName.keys()) assert.doesNotMatch(name, /key|session|environments_write|approvals_write/, "no tool gives rights");
  const { resources } = await client.listResources();
  const page = resources.find(({ uri }) => uri === "inlet://docs/errors/run_ended");
  assert.equal(page?.mimeType, "text/markdown");
  const read = await client.readResource({ uri: "inlet://docs/errors/run_ended" });
  assert.match((read.contents[0] as { text: string }).text, /# run_ended/);
  for (const uri of ["inlet://docs/../package.json", "file:///etc/passwd", "inlet://docs/none"])
    await assert.rejects(client.readResource({ uri }));
}

function actionsOf(tool: { inputSchema: { properties?: object | undefined } } | undefined): unknown {
  const { action } = (tool?.inputSchema.properties ?? {}) as { action?: { enum: string[] } };
  return action?.enum;
}

async function answersAreThoseOfRest(service: TestService, viewer: McpClient, viewerKey: string): Promise<void> {
  const exact = '{"name":"exact/a","data":{"n":12345678901234567890.000,"a":1},"id":"once"}';
  const { ids } = (await service.send(exact)).body;
  const webhook = await makeWebhook(service);
  await post(webhook.url, { a: 1 });
  // Requests are recorded and types counted shortly after the response: what differs is compared again.
  const same = (path: string, tool: string, args: Record<string, unknown>) =>
    poll(
      async () => {
        const rest = await service.rest("GET", path, { headers: { authorization: `Bearer ${viewerKey}` } });
        const mine = await viewer.call(tool, args);
        return mine.isError === rest.status >= 400 && mine.text === rest.text ? true : null;
      },
      `${tool} ${JSON.stringify(args)} to be GET ${path}`,
    );
  await same(`/events/${ids[0]}`, "events_read", { id: ids[0] });
  await same("/events?name=exact%2F*&limit=1", "events_read", { name: "exact/*", limit: 1 });
  await same("/events?id=once", "events_read", { dedupId: "once" });
  await same(`/events/${ids[0]}/runs?relation=resumed`, "events_read", { id: ids[0], part: "runs", relation: "resumed" });
  await same("/events?wrong=1", "events_read", { wrong: 1 });
  await same("/events/none", "events_read", { id: "none" });
  await same("/runs?status=failed", "runs_read", { status: "failed" });
  // The URL of a webhook is a secret that viewers do not see.
  await same(`/webhooks/${webhook.id}`, "webhooks_read", { id: webhook.id });
  await same(`/webhooks/${webhook.id}/requests`, "requests_read", { id: webhook.id });
  await same("/event-types/exact%2Fa", "event_types_read", { id: "exact/a" });
  await same("/failures", "failures_read", {});
  await same("/alerts", "alerts_read", {});
  await same("/jobs?limit=5", "jobs_read", { limit: 5 });
  await same("/functions", "functions_read", {});
  await same("/find?id=once", "find_read", { id: "once" });
  assert.doesNotMatch((await viewer.call("webhooks_read", { id: webhook.id })).text, new RegExp(webhook.url.split("/").at(-1) as string));
  assert.ok((await viewer.call("figures_read")).value.data.points);
  for (const [args, field] of [
    [{ part: "runs" }, "id"],
    [{ part: "none" }, "part"],
    [{ id: "" }, "id"],
    [{ id: ".." }, "id"],
    [{ id: { a: 1 } }, "id"],
    [{ name: ["a"] }, "name"],
    [{ environment: "a\r\nb: c" }, "environment"],
  ] as const) {
    const { isError, value } = await viewer.call("events_read", args);
    assert.deepEqual([isError, value.code, value.details?.[0].field], [true, "request_invalid", field], JSON.stringify(args));
  }
}

async function longAnswersComeInPieces(service: TestService, viewer: McpClient): Promise<void> {
  const sizes = [3_000, 9_000, 60_000, 100, 12_000, 7_000, 25_000, 19_000];
  const events = sizes.map((size, index) => ({ name: "long/a", data: { index, text: '\u0001ä"'.repeat(size / 3) } }));
  const { ids } = (await service.send(events)).body as { ids: string[] };
  const seen: { id: string; truncated?: true; data: unknown }[] = [];
  let cursor: string | null = null;
  do {
    const { text, value } = await viewer.call("events_read", { name: "long/a", limit: 5, ...(cursor !== null && { cursor }) });
    assert.ok(text.length <= RESPONSE_UNITS_MAX, `${text.length}`);
    seen.push(...value.data);
    cursor = value.page.next;
  } while (cursor !== null);
  assert.deepEqual(
    seen.map(({ id }) => id),
    ids.toReversed(),
  );
  const large = seen.find(({ id }) => id === ids[2]);
  assert.equal(large?.truncated, true);
  assert.match(String(large?.data), /^\{"index":2,"text":"/);
  assert.equal(seen.find(({ id }) => id === ids[3])?.truncated, undefined);

  const first = await viewer.call("events_read", { id: ids[2] });
  assert.deepEqual([first.value.data.id, first.value.data.truncated], [ids[2], true]);
  let json = "";
  for (let next: string | null = first.value.page.next; next !== null; ) {
    const { text, value } = await viewer.call("events_read", { id: ids[2], cursor: next });
    assert.ok(text.length <= RESPONSE_UNITS_MAX);
    json += value.data.json;
    next = value.page.next;
  }
  assert.deepEqual(JSON.parse(json).data, events[2]?.data);
}

async function viewerChangesNothing(service: TestService, viewer: McpClient): Promise<void> {
  const refused = await viewer.call("webhooks_write", { action: "save", name: "mine", transform: ECHO });
  assert.deepEqual([refused.isError, refused.value.code, refused.value.status], [true, "role_forbidden", 403]);
  const { body } = await service.rest("GET", "/webhooks?limit=100");
  assert.ok(!body.data.some(({ name }: { name: string }) => name === "mine"));
}

async function operatorStaysInside(service: TestService, operator: McpClient): Promise<void> {
  const [inProduction] = (await service.send({ name: "secret/a", data: {} })).body.ids;
  for (const tool of READ.filter((name) => !["requests_read", "audit_log_read"].includes(name))) {
    const { isError, value, text } = await operator.call(tool, { environment: "production" });
    assert.deepEqual([isError, value.code], [true, "environment_forbidden"], `${tool} ${text}`);
    assert.equal((await operator.call(tool, { environment: "staging" })).isError, false, tool);
  }
  for (const named of [{}, { environment: "staging" }]) {
    assert.equal((await operator.call("events_read", named)).isError, false, "staging is its only environment");
    assert.equal((await operator.call("events_read", { ...named, id: inProduction })).value.code, "event_not_found");
  }
  const log = await operator.call("audit_log_read", { limit: 100 });
  assert.deepEqual([...new Set(log.value.data.map(({ environment }: { environment: string }) => environment))], ["staging"]);
  const saved = await operator.call("webhooks_write", { action: "save", environment: "staging", name: "w", transform: ECHO });
  assert.equal(saved.value.code, "role_forbidden", "an operator repairs only");
  const job = { action: "start", kind: "events.replay", filter: { name: "none" } };
  assert.equal((await operator.call("jobs_write", { ...job, environment: "production" })).value.code, "environment_forbidden");
  assert.equal((await operator.call("jobs_write", { ...job, environment: "staging" })).isError, false);
}

async function callersNeedAKey(service: TestService): Promise<void> {
  const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };
  const signedIn = await call(`${service.url}/v1/session`, { method: "POST", ...json({ apiKey: API_KEY }) });
  const cookie = signedIn.headers.get("set-cookie")?.split(";")[0] ?? "";
  const refusals = [
    [{ authorization: "" }, "api_key_missing"],
    [{ authorization: "Bearer wrong" }, "api_key_invalid"],
    [{ authorization: `Bearer ${SIGNING_KEY}` }, "api_key_invalid"],
    [{ authorization: `Bearer ${EVENT_KEY}` }, "api_key_invalid"],
    [{ authorization: "", cookie, origin: service.url }, "api_key_missing"],
  ] as const;
  for (const [headers, code] of refusals) {
    const { status, body } = await frame(service, list, headers);
    assert.deepEqual([status, body.code], [401, code]);
  }
}

async function callsAreInTheAuditLog(service: TestService, viewer: McpClient, keyId: string): Promise<void> {
  await viewer.call("event_types_read", { environment: "staging", id: "no/such" });
  const { body } = await service.rest("GET", `/audit-log?actor=${keyId}&action=tool.called&limit=100`);
  const { actor, target, environment, details } = body.data[0];
  assert.deepEqual([actor.kind, actor.id, actor.name], ["api-key", keyId, "agent"]);
  assert.deepEqual(target, { kind: "tool", id: "event_types_read", name: "event_types_read" });
  assert.deepEqual([environment, details], ["staging", { id: "no/such", refused: "event_type_not_found" }]);
  assert.ok(body.data.some((entry: { target: { id: string } }) => entry.target.id === "webhooks_write"));
}

async function hostileFramesAreAnswered(service: TestService, admin: McpClient): Promise<void> {
  const asked = (body: string, headers: Record<string, string> = {}) => frame(service, body, headers);
  const called = (args: string) => `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"events_read","arguments":${args}}}`;
  const deep = `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`;
  for (const [name, body, headers] of [
    ["not JSON", "{", {}],
    ["nothing", "", {}],
    ["a number", "1", {}],
    ["an unknown method", '{"jsonrpc":"2.0","id":1,"method":"nothing"}', {}],
    ["an unknown tool", '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"none"}}', {}],
    ["a deep argument", called(deep), {}],
    ["a deep frame", deep, {}],
    ["arguments that are a list", called("[1]"), {}],
    ["__proto__", called('{"__proto__":{"limit":1}}'), {}],
    ["an unknown revision", called("{}"), { "mcp-protocol-version": "1999-01-01" }],
    ["another content type", called("{}"), { "content-type": "text/plain" }],
    ["too many messages", `[${Array(21).fill(called("{}")).join(",")}]`, {}],
    ["too large", called(`{"name":"${"x".repeat(1_100_000)}"}`), {}],
    ["a session", called("{}"), { "mcp-session-id": "x", "last-event-id": "1" }],
  ] as const) {
    const { status, text } = await asked(body, headers);
    assert.ok(status < 500, `${name}: ${status} ${text}`);
    assert.ok(text.length < 2 * RESPONSE_UNITS_MAX + 1_000, name);
  }
  assert.equal((await asked(`[${Array(21).fill(called("{}")).join(",")}]`)).body.code, "request_invalid");
  assert.equal((await asked(called("{}"), { "content-type": "text/plain" })).status, 415);
  assert.equal((await asked(called(`"${"x".repeat(1_100_000)}"`))).status, 413);
  const headers = { authorization: `Bearer ${API_KEY}`, accept: "text/event-stream" };
  for (const method of ["GET", "DELETE"]) assert.equal((await call(`${service.url}/mcp`, { method, headers })).status, 405);
  assert.equal((await admin.call("events_read", { limit: 1 })).isError, false, "the service goes on");
}

async function thingsAreChanged(service: TestService, admin: McpClient): Promise<void> {
  const made = await admin.call("webhooks_write", { action: "save", name: "made", transform: ECHO, environment: "staging" });
  assert.equal(made.isError, false, made.text);
  const { id, url, environment } = made.value.data;
  assert.equal(environment, "staging");
  const changed = await admin.call("webhooks_write", { action: "save", id, name: "renamed", environment: "staging" });
  assert.equal(changed.value.data.name, "renamed");
  assert.equal((await admin.call("webhooks_write", { action: "test", id, body: { a: 1 } })).value.data.ok, true);
  assert.equal((await admin.call("webhooks_write", { action: "test", transform: ECHO, body: {} })).value.data.ok, true);
  assert.equal(
    (await admin.call("transforms_write", { action: "test", transform: "function transform() { throw 1 }", body: {} })).value.data.ok,
    false,
  );
  assert.equal((await admin.call("webhooks_write", { action: "rotate", id })).value.code, "request_invalid", "not among the actions");
  await post(url, { n: 1 });
  const request = await poll(async () => (await admin.call("requests_read", { id })).value.data[0] ?? null, "the record of the request");
  const replayed = await admin.call("requests_write", { action: "replay", id, requestId: request.id });
  assert.equal(replayed.isError, false, replayed.text);
  const preview = await admin.call("jobs_write", { action: "start", kind: "events.replay", filter: { name: "exact/*" }, dryRun: true });
  assert.equal(preview.value.data.total, 1);
  const names = (await service.rest("GET", "/audit-log?limit=100")).body.data.map(({ action }: { action: string }) => action);
  for (const action of ["webhook.created", "webhook.updated", "tool.called"]) assert.ok(names.includes(action), action);
}

function frame(service: TestService, body: unknown, headers: Record<string, string> = {}) {
  const usual = { authorization: `Bearer ${API_KEY}`, accept: "application/json, text/event-stream", "content-type": "application/json" };
  return call(`${service.url}/mcp`, {
    method: "POST",
    headers: { ...usual, ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}

function json(body: unknown) {
  return { headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
}

/** The message of a body that is JSON, or a stream of one. */
function messageOf(text: string) {
  return JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text);
}
