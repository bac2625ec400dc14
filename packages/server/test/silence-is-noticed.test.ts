/** Silence: an alert is raised when something stops, and resolved by the next request, event or run. */

import assert from "node:assert/strict";
import { startApp } from "./support/app.ts";
import { test } from "./support/both-stores.ts";
import { migratedDatabase } from "./support/postgres.ts";
import { until } from "./support/runs.ts";
import { call, startTestService } from "./support/service.ts";

const DAY_MS = 86_400_000;
const TRANSFORM = "transform = (evt) => ({ name: 'bank/paid', data: evt })";

test("a webhook, an event name and a function that fall silent raise an alert, and the next one resolves it", async (t, engine) => {
  let aheadMs = 0;
  const start = engine === "postgres" ? { databaseUrl: await migratedDatabase(t) } : { now: () => Date.now() + aheadMs };
  const service = await startTestService(t, start);
  const seen: string[] = [];
  await startApp(t, service, (inlet) => [
    inlet.createFunction({ id: "ship" }, { event: "shop/order" }, () => undefined),
    inlet.createFunction({ id: "tell" }, [{ event: "inlet/alert.raised" }, { event: "inlet/alert.resolved" }], ({ event }) => {
      seen.push([event.name.slice("inlet/alert.".length), event.data.rule.name, event.data.reason].join(" ").trim());
    }),
  ]);
  const webhook = (await service.rest("POST", "/webhooks", { body: { name: "Bank", transform: TRANSFORM } })).body.data;
  const subjects = { function: "shop-ship", event: "shop/*", webhook: webhook.id };
  for (const [field, subject] of Object.entries(subjects)) {
    const body = { name: field, kind: "silence", [field]: subject, windowSeconds: 10 };
    const made = await service.rest("POST", "/alert-rules", { body });
    assert.equal(made.status, 201, made.text);
    const { threshold, windowSeconds, function: functionId, event, webhook: webhookId } = made.body.data;
    assert.deepEqual(
      { threshold, windowSeconds, function: functionId, event, webhook: webhookId },
      { threshold: null, windowSeconds: 10, function: null, event: null, webhook: null, [field]: subject },
    );
  }
  const act = async () => {
    await service.send({ name: "shop/order", data: {} });
    assert.equal((await call(webhook.url, { method: "POST" })).status, 200);
  };
  // By kind: on a busy machine, what happens can be further apart than the window, and an alert is raised again.
  const told = (what: string) => [...new Set(seen.filter((line) => line.startsWith(what)))].sort();
  await act();
  aheadMs = 60_000;
  await until("three alerts", () => (told("raised").length >= 3 ? true : undefined));
  assert.deepEqual(told("raised"), ["raised event", "raised function", "raised webhook"]);
  await until("their ends", async () => {
    await act();
    return told("resolved").length >= 3 ? true : undefined;
  });
  assert.deepEqual(told("resolved"), ["resolved event active_again", "resolved function active_again", "resolved webhook active_again"]);

  const rhythms = () =>
    Promise.all(
      [`/webhooks/${webhook.id}/rhythm`, "/event-types/shop%2Forder/rhythm"].map(
        async (path) => (await service.rest("GET", path)).body.data,
      ),
    );
  for (const { week, longestGapSeconds, since, knownFrom } of await rhythms()) {
    assert.deepEqual([week, longestGapSeconds, since], [null, null, null]);
    assert.ok(Date.parse(knownFrom) > Date.now() + 13 * DAY_MS);
  }
  if (engine === "postgres") return;
  aheadMs = 15 * DAY_MS;
  await act();
  for (const { week, longestGapSeconds } of await rhythms()) {
    assert.deepEqual([week.length, week.some((share: number) => share > 0)], [168, true]);
    assert.ok(Math.abs(longestGapSeconds - 15 * 86_400) < 600, String(longestGapSeconds));
  }
});

test("a rule takes only the fields of its kind: one about silence one subject, a window and no threshold", async (t, engine) => {
  const startedAt = Date.now();
  const service = await startTestService(t, engine === "postgres" ? { databaseUrl: await migratedDatabase(t) } : {});
  const refuse = async (body: object, field: string) => {
    const { status, body: answer } = await service.rest("POST", "/alert-rules", { body: { name: "x", ...body } });
    assert.deepEqual([status, answer.details?.[0]?.field], [400, field], JSON.stringify(body));
  };
  const silence = { kind: "silence", windowSeconds: 60 };
  await refuse(silence, "kind");
  await refuse({ ...silence, event: "a/b", function: "app-f" }, "kind");
  await refuse({ ...silence, event: "a/b", threshold: 1 }, "threshold");
  await refuse({ kind: "silence", event: "a/b" }, "windowSeconds");
  await refuse({ ...silence, event: "a*b" }, "event");
  await refuse({ ...silence, event: "inlet/approval.requested" }, "event");
  await refuse({ ...silence, event: "inngest/*" }, "event");
  await refuse({ kind: "queue_age" }, "threshold");
  await refuse({ kind: "queue_age", threshold: 1, event: "a/b" }, "event");
  await refuse({ kind: "queue_age", threshold: 1, webhook: "whk_1" }, "webhook");
  await refuse({ kind: "quota_used", threshold: 1, function: "app-f" }, "function");
  await refuse({ kind: "queue_age", threshold: 1, windowSeconds: "usual" }, "windowSeconds");
  await refuse({ kind: "queue_age", threshold: 1, windowSeconds: 86_401 }, "windowSeconds");
  const post = (body: object) => service.rest("POST", "/alert-rules", { body: { name: "x", ...silence, ...body } });
  const unknown = await post({ webhook: "whk_1" });
  assert.deepEqual([unknown.status, unknown.body.code], [404, "webhook_not_found"]);
  const early = await post({ event: "a/b", windowSeconds: "usual" });
  assert.deepEqual([early.status, early.body.code], [400, "rhythm_unknown"]);
  const days = [startedAt, Date.now()].map((at) => new Date(at + 14 * DAY_MS).toISOString().slice(0, 10));
  assert.ok(
    days.some((day) => early.body.error.includes(day)),
    early.body.error,
  );
  const rule = (await post({ event: "a/b" })).body.data;
  const put = (body: object) => service.rest("PUT", `/alert-rules/${rule.id}`, { body });
  assert.equal((await put({ windowSeconds: 86_400 * 7 })).body.data.windowSeconds, 86_400 * 7);
  assert.equal((await put({ kind: "queue_age", threshold: 1 })).status, 400, "its event does not fit");
  const other = await put({ kind: "queue_age", threshold: 1, event: null, windowSeconds: 60 });
  assert.deepEqual([other.status, other.body.data.threshold, other.body.data.event], [200, 1, null]);
});
