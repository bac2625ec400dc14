/** The audit log: who changed what, when; by key, by session and on a dev server; without secrets; readable by filters and pages. */

import assert from "node:assert/strict";
import { ACTOR_KINDS, type AuditEntry } from "../src/store/contract/index.ts";
import { test } from "./support/both-stores.ts";
import { openBrowser } from "./support/browser.ts";
import { until } from "./support/runs.ts";
import { type Answer, API_KEY, call, startTestService, type TestService } from "./support/service.ts";
import { makeWebhook } from "./support/webhooks.ts";

const code = ({ status, body }: Answer) => [status, body?.code];

async function auditLog(service: TestService, query = "") {
  const { status, body } = await service.rest("GET", `/audit-log${query}`);
  assert.equal(status, 200, JSON.stringify(body));
  return body.data;
}

test("an entry says who, what, when, where", async (t) => {
  let now = Date.parse("2026-01-31T12:00:00Z");
  const service = await startTestService(t, { now: () => now });
  const webhook = await makeWebhook(service);
  now += 1_000;
  await service.rest("PUT", `/webhooks/${webhook.id}`, { body: { name: "renamed", enabled: false } });
  const [updated, created] = await auditLog(service);
  const { id: keyId } = (await service.rest("GET", "/keys?kind=api")).body.data[0];
  assert.deepEqual(updated, {
    id: updated.id,
    at: "2026-01-31T12:00:01.000Z",
    actor: { kind: "api-key", id: keyId, name: "configured" },
    action: "webhook.updated",
    target: { kind: "webhook", id: webhook.id, name: "renamed" },
    environment: "production",
    details: { version: 1, fields: ["name", "enabled"] },
  });
  assert.deepEqual([created.action, created.target.name], ["webhook.created", "test hook"]);
});

test("what was refused is not recorded", async (t) => {
  const service = await startTestService(t);
  await service.rest("POST", "/environments", { body: { name: "branch" } });
  await service.rest("DELETE", "/keys/none");
  await service.rest("PUT", "/webhooks/none", { body: { name: "x" } });
  await service.rest("POST", "/environments", { body: { name: "x" }, headers: { authorization: "Bearer no" } });
  // The key that reads the log has proved itself at an address from which another was refused.
  const entries = await auditLog(service);
  assert.deepEqual(
    entries.filter(({ action }: { action: string }) => action !== "key.proved"),
    [],
  );
});

test("sessions and dev servers are actors of their own", async (t) => {
  const service = await startTestService(t);
  const browser = openBrowser(service.url);
  await browser.signIn({ apiKey: API_KEY });
  await browser.rest("POST", "/environments", { body: { name: "pr-1", kind: "branch" } });
  await browser.rest("DELETE", "/session");
  const entries = await auditLog(service, "?actor=session");
  assert.deepEqual(
    entries.map(({ action }: { action: string }) => action),
    ["session.ended", "environment.created", "session.created"],
  );
  assert.equal(new Set(entries.map(({ actor }: { actor: { id: string } }) => actor.id)).size, 1);

  const dev = await startTestService(t, { mode: "dev" });
  await dev.rest("POST", "/environments", { body: { name: "pr-1", kind: "branch" } });
  assert.deepEqual((await auditLog(dev))[0].actor, { kind: "dev", id: "dev", name: "dev server" });
});

test("the service and whoever has a link are actors, too, and every kind of actor is declared", async (t) => {
  const service = await startTestService(t);
  const { url } = (await service.rest("POST", "/approvals", { body: { signal: "go", prompt: "Go?", timeout: "1h" } })).body.data;
  assert.equal((await call(url, { method: "POST", body: new URLSearchParams({ decision: "approved" }) })).status, 200);
  await service.rest("POST", "/alert-rules", { body: { name: "lost", kind: "unmatched_events", threshold: 1 } });
  await service.send({ name: "shop/order", data: {} });
  const kindsOf = async (action: string) =>
    new Set((await auditLog(service, `?action=${action}`)).map((entry: AuditEntry) => entry.actor.kind));
  await until("the alert", async () => ((await kindsOf("alert.raised")).size > 0 ? true : undefined));
  assert.deepEqual(await kindsOf("alert.raised"), new Set(["service"]));
  assert.deepEqual(await kindsOf("approval.decided"), new Set(["link"]));
  const { components } = (await service.rest("GET", "/openapi.json")).body;
  assert.deepEqual(components.schemas.AuditEntry.properties.actor.properties.kind.enum, ACTOR_KINDS);
});

test("no secret gets into it", async (t) => {
  const service = await startTestService(t);
  const secrets: string[] = [API_KEY];
  for (const kind of ["event", "api", "signing"])
    secrets.push((await service.rest("POST", "/keys", { body: { kind, name: kind } })).body.data.key);
  const webhook = await makeWebhook(service);
  secrets.push(webhook.url.split("/").at(-1) ?? "");
  const { body } = await service.rest("POST", `/webhooks/${webhook.id}/rotate`);
  secrets.push(body.data.url.split("/").at(-1));
  const loginToken = service.issueLoginToken();
  const browser = openBrowser(service.url);
  await browser.signIn({ loginToken });
  secrets.push(loginToken, browser.cookie().split("=")[1] ?? "");
  const { text, body: log } = await service.rest("GET", "/audit-log?limit=100");
  assert.equal(log.data.length, 6);
  for (const secret of secrets) assert.ok(secret.length > 8 && !text.includes(secret), secret);
});

test("filters and pages", async (t) => {
  let now = 1_000_000_000_000;
  const service = await startTestService(t, { now: () => now });
  for (const n of [1, 2, 3, 4, 5]) {
    await service.rest("POST", "/environments", { body: { name: `e-${n}`, kind: "branch" } });
    now += 1_000;
  }
  await service.rest("POST", "/environments/e-1/archive");
  const names = async (query: string) => (await auditLog(service, query)).map(({ target }: { target: { name: string } }) => target.name);
  assert.deepEqual(await names("?action=environment.archived"), ["e-1"]);
  assert.deepEqual(await names("?action=environment.*&limit=2"), ["e-1", "e-5"]);
  assert.deepEqual(await names("?from=1000000001000&to=1000000003000"), ["e-3", "e-2"]);
  assert.deepEqual(await names("?actor=nobody"), []);
  const first = (await service.rest("GET", "/audit-log?limit=4")).body;
  const second = (await service.rest("GET", `/audit-log?limit=4&cursor=${first.page.next}`)).body;
  assert.deepEqual([first.data.length, second.data.length, second.page.next], [4, 2, null]);
  assert.deepEqual(code(await service.rest("GET", "/audit-log?who=me")), [400, "request_invalid"]);
  assert.deepEqual(code(await service.rest("GET", "/audit-log?cursor=*")), [400, "request_invalid"]);
});
