/** An object of each kind in `production`, and bodies that name them: what callers who are restricted to `staging` aim at. */

import type { TestContext } from "node:test";
import { poll, startApp } from "./app.ts";
import type { TestService } from "./service.ts";
import { ECHO, makeWebhook, post, UNREACHABLE } from "./webhooks.ts";

export async function makeEnvironmentScene(t: TestContext, service: TestService) {
  await service.rest("POST", "/environments", { body: { name: "staging" } });
  const app = await startApp(t, service, (client) => [
    client.createFunction({ id: "wait" }, { event: "shop/a" }, async ({ step }) =>
      step.waitForSignal("s", { signal: "go", timeout: "1d" }),
    ),
  ]);
  const webhook = await makeWebhook(service, ECHO, { reconcile: UNREACHABLE });
  await post(webhook.url);
  const sent = (await service.send({ name: "shop/a", data: {} })).body.ids[0];
  const first = async (path: string) => poll(async () => (await service.rest("GET", path)).body.data[0] ?? null, path);
  const run = await first(`/events/${sent}/runs`);
  await poll(async () => ((await service.rest("GET", `/runs/${run.id}`)).body.data.status === "waiting" ? true : null), "the wait");
  const rule = (await service.rest("POST", "/alert-rules", { body: { name: "r", kind: "failure_count", threshold: 1 } })).body.data;
  const asked = { signal: "other", prompt: "Go?", timeout: "1d" };
  const approval = (await service.rest("POST", "/approvals", { body: asked })).body.data;
  await service.rest("POST", `/functions/${run.function.id}/pause`);
  const jobBody = { kind: "events.replay", filter: { name: "shop/a" }, rate: 1 };
  const job = (await service.rest("POST", "/jobs", { body: jobBody })).body.data;
  await poll(async () => (await service.rest("GET", `/jobs/${job.id}`)).body.data.endedAt, "the end of the job");
  return {
    ids: {
      jobs: job.id,
      webhooks: webhook.id,
      requestId: (await first(`/webhooks/${webhook.id}/requests`)).id,
      "alert-rules": rule.id,
      ...{
        runs: run.id,
        functions: run.function.id,
        apps: (await first("/apps")).id,
        holds: "1",
        approvals: approval.id,
        "event-types": "shop/a",
        environments: "production",
      },
      events: sent,
      keys: (await first("/keys?kind=event")).id,
      sessions: "none",
    } as Record<string, string>,
    bodies: {
      "POST /jobs": [
        { kind: "requests.replay", filter: { webhook: webhook.id } },
        { ...jobBody, function: run.function.id },
      ],
      "POST /environments": [{ name: "mine" }],
      "POST /databases": [
        { name: "mine", url: "postgres://u@127.0.0.1:1/x" },
        { name: "mine", url: "postgres://u@127.0.0.1:1/x?sslrootcert=/dev/zero", readUrl: "postgres:///x?host=/nowhere&port=99999" },
      ],
      "POST /environments/{name}/move": [{ database: "directory" }],
      "PUT /environments/{name}": [{ retention: { events: "1m" } }],
      "POST /keys": [
        { kind: "event", name: "k" },
        { kind: "api", name: "k", environments: ["production"] },
      ],
      "PUT /keys/{id}": [{ name: "mine" }],
      "PUT /event-types/{name}": [{ mode: "refuse", schema: false }],
      "POST /event-types/{name}/check": [{ data: {} }],
      "POST /transforms/test": [{ transform: ECHO, webhookId: webhook.id, sign: true }],
      "POST /webhooks/{id}/test": [{ sign: true }],
      "POST /webhooks/{id}/backtest": [{ transform: ECHO }],
      "POST /webhooks/{id}/drill": [{ environment: "production" }, { environment: "staging" }],
      "POST /webhooks/{id}/reconcile": [{ since: 0 }, { since: 0, dryRun: true }],
      "POST /webhooks": [
        { name: "w", transform: ECHO, environment: "production" },
        { name: "w", transform: ECHO, mirror: { to: ["*"] } },
      ],
      "PUT /webhooks/{id}": [{ transform: ECHO }],
      "POST /alert-rules": [{ name: "mine", kind: "failure_count", threshold: 1 }],
      "PUT /alert-rules/{id}": [{ name: "mine" }],
      "PUT /failures": [{ function: run.function.id, pattern: "p", state: "ignored" }],
      "PUT /functions/{id}/limits": [{ concurrency: 1 }],
      "POST /apps": [{ url: app.url }],
      "POST /signals": [{ signal: "go" }],
      "POST /approvals": [asked],
      "POST /approvals/{id}": [{ decision: "approved" }],
      "POST /events": [{ name: "shop/a", data: {} }],
      "POST /functions/{id}/invoke": [{ data: {} }],
    } as Record<string, object[]>,
  };
}
