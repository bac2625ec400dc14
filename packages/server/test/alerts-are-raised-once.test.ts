/** Alerts: raised and resolved as internal events that functions subscribe to, once each, noted in the audit log. */

import assert from "node:assert/strict";
import { test as testOnce } from "node:test";
import { pino } from "pino";
import { AlertWatch, isQuiet } from "../src/alerts/alert-watch.ts";
import { makeEnvironment, sampleBatch, sampleEvent } from "../src/store/conformance/samples.ts";
import type { AlertRule } from "../src/store/contract/index.ts";
import { openSqliteStore } from "../src/store/sqlite/sqlite-store.ts";
import { startApp } from "./support/app.ts";
import { test } from "./support/both-stores.ts";
import { onEnd } from "./support/on-end.ts";
import { migratedDatabase } from "./support/postgres.ts";
import { until } from "./support/runs.ts";
import { call, startTestService, temporaryFolder } from "./support/service.ts";

const HOUR_MS = 3_600_000;

/** UTC, over midnight if need be. */
function hoursAround(now: number): { from: string; to: string } {
  const clock = (ms: number) => new Date(ms).toISOString().slice(11, 16);
  return { from: clock(now - HOUR_MS), to: clock(now + 3 * HOUR_MS) };
}

interface AuditEntry {
  action: string;
  target: { name: string };
  details: { reason?: string };
}

test("an alert is raised once, starts functions, shows, and is resolved", async (t, engine) => {
  let aheadMs = 0;
  const now = () => Date.now() + aheadMs;
  const start = engine === "postgres" ? { databaseUrl: await migratedDatabase(t) } : { now };
  const service = await startTestService(t, start);
  // Two nodes evaluate no rule twice.
  if (engine === "postgres") await startTestService(t, start);
  const emitted: string[] = [];
  const begun = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  const done = Promise.withResolvers<void>();
  onEnd(t, async () => done.resolve());
  await startApp(t, service, (inlet) => [
    inlet.createFunction({ id: "pay", retries: 0 }, { event: "shop/order" }, () => {
      throw new Error("card declined");
    }),
    inlet.createFunction({ id: "shaped" }, { event: "shop/shaped" }, () => undefined),
    inlet.createFunction({ id: "tell" }, [{ event: "inlet/alert.raised" }, { event: "inlet/alert.resolved" }], ({ event }) => {
      const { rule, value, reason = "" } = event.data;
      emitted.push(`${event.name} ${rule.name} ${rule.kind === "queue_age" ? Math.sign(value) : value} ${reason}`.trim());
    }),
    inlet.createFunction({ id: "busy", concurrency: 1 }, { event: "shop/busy" }, () => done.promise),
    inlet.createFunction({ id: "slow", retries: 0 }, { event: "shop/slow" }, async () => {
      begun.resolve();
      await held.promise;
      throw new Error("gave up");
    }),
  ]);
  const rule = async (body: object) => {
    const made = await service.rest("POST", "/alert-rules", { body });
    assert.equal(made.status, 201, made.text);
    return made.body.data;
  };
  await service.send({ name: "shop/slow", data: {} });
  await begun.promise;
  // As far as apps accept signatures, and a little more than the window: the run began before it, and its end stays in it for long.
  aheadMs = 240_000;
  held.resolve();
  await rule({ name: "late", kind: "failure_count", function: "shop-slow", threshold: 1, windowSeconds: 230 });
  // All of them: a rule may be evaluated while some runs have not failed yet.
  const failures = await rule({ name: "failures", kind: "failure_count", function: "shop-pay", threshold: 3 });
  const rate = await rule({ name: "rate", kind: "failure_rate", function: "shop-pay", threshold: 60 });
  const lost = await rule({ name: "lost", kind: "unmatched_events", threshold: 1 });
  await rule({ name: "drift", kind: "schema_drift", threshold: 1 });
  await rule({ name: "refused", kind: "refused_requests", threshold: 2 });
  await rule({ name: "waits", kind: "queue_age", function: "shop-busy", threshold: 0.1 });
  await rule({ name: "far away", kind: "failure_count", threshold: 1_000 });
  await rule({ name: "asleep", kind: "failure_count", threshold: 1, quietHours: hoursAround(now()) });
  await service.send([...Array(10).fill({ name: "shop/shaped", data: { n: 1 } }), { name: "shop/shaped", data: { n: 1, extra: "new" } }]);
  await service.send([...Array(3).fill({ name: "shop/order", data: {} }), { name: "shop/nobody", data: {} }]);
  const transform = "transform = () => { throw new Error('not yet') }";
  const webhook = (await service.rest("POST", "/webhooks", { body: { name: "Hook", transform } })).body.data;
  for (const _ of [1, 2]) assert.equal((await call(webhook.url, { method: "POST" })).status, 400);
  await service.send(Array(2).fill({ name: "shop/busy", data: {} }));
  await until("seven alerts", () => (emitted.length >= 7 ? true : undefined));
  const raised = ["drift 1", "failures 3", "late 1", "lost 1", "rate 100", "refused 2", "waits 1"].map(
    (alert) => `inlet/alert.raised ${alert}`,
  );
  assert.deepEqual([...emitted].sort(), raised);
  // A change is recorded once its event is stored.
  const active = await until("seven active alerts", async () => {
    const { data } = (await service.rest("GET", "/alerts")).body;
    return data.length >= 7 ? (data as { name: string }[]) : undefined;
  });
  assert.deepEqual(active.map(({ name }) => name).sort(), ["drift", "failures", "late", "lost", "rate", "refused", "waits"]);
  const changed = await service.rest("PUT", `/alert-rules/${failures.id}`, { body: { threshold: 50 } });
  assert.deepEqual([changed.status, changed.body.data.threshold, changed.body.data.kind], [200, 50, "failure_count"]);
  assert.equal((await service.rest("PUT", `/alert-rules/${rate.id}`, { body: { enabled: false } })).status, 200);
  assert.equal((await service.rest("DELETE", `/alert-rules/${lost.id}`)).status, 200);
  await until("three alerts to be resolved", () => (emitted.length >= 10 ? true : undefined));
  const resolved = ["failures 3 below_threshold", "lost 1 rule_deleted", "rate 100 rule_disabled"];
  const resolutions = emitted.filter((line) => line.includes("resolved")).sort();
  assert.deepEqual(
    resolutions,
    resolved.map((alert) => `inlet/alert.resolved ${alert}`),
    "each is resolved once and says why",
  );
  assert.equal(emitted.filter((line) => line.includes("raised")).length, 7, "each was raised once");
  const audited = await until("ten entries of the audit log", async () => {
    const { data } = (await service.rest("GET", "/audit-log?action=alert.*&limit=100")).body;
    return data.length >= 10 ? data : undefined;
  });
  const entries = audited.map(({ action, target, details }: AuditEntry) => `${action} ${target.name} ${details.reason ?? ""}`.trim());
  assert.deepEqual(entries.filter((entry: string) => entry.startsWith("alert.resolved")).sort(), [
    ...["failures below_threshold", "lost rule_deleted", "rate rule_disabled"].map((entry) => `alert.resolved ${entry}`),
  ]);
  assert.equal(entries.length, 10);
  assert.equal((await service.rest("DELETE", `/alert-rules/${failures.id}`)).status, 200);
  assert.equal((await service.rest("PUT", `/alert-rules/${failures.id}`, { body: {} })).body.code, "alert_rule_not_found");
  assert.equal((await service.rest("POST", "/alert-rules", { body: { name: "x", kind: "mood", threshold: 1 } })).status, 400);
  for (const quietHours of [
    { from: "22:00", to: "06:00", timeZone: "Mars/Base" },
    { from: "22:00", to: "22:00" },
  ]) {
    const refused = await service.rest("POST", "/alert-rules", { body: { name: "x", kind: "queue_age", threshold: 1, quietHours } });
    assert.deepEqual([refused.status, refused.body.details.length], [400, 1]);
  }
});

testOnce("an alert ends with its environment or its rule, and a rule that cannot be measured stops no other", async (t) => {
  const store = openSqliteStore({ folder: temporaryFolder(t), onFault: () => undefined, onRecovery: () => undefined });
  const environment = await makeEnvironment(store);
  const subject = { functionId: null, webhookId: null, eventName: null };
  const fields = { kind: "failure_count", ...subject, threshold: 1, windowMs: 60_000, quietHours: null, isEnabled: true } as const;
  const state = { createdAt: 1, updatedAt: 1, raisedAt: null, lastRaisedAt: null, value: null, changes: 0 };
  for (const id of ["broken", "deleted", "kept"])
    await store.alertRuleInsert({ id, name: id, environmentId: environment.id, ...fields, ...state });
  const told = async () =>
    (await store.eventList({ environmentId: environment.id, limit: 10 })).events.map(({ name, dedupId, data }) =>
      `${name} ${dedupId} ${JSON.parse(data).reason ?? ""}`.trim(),
    );
  let archivedAt: number | null = null;
  const watch = new AlertWatch({
    store,
    everyMs: 5,
    now: Date.now,
    takeLeadership: async () => true,
    log: pino({ level: "silent" }),
    environment: () => ({ name: "production", archivedAt }),
    async measure(rule) {
      if (rule.id === "broken") throw new Error("no figures");
      // Deleted by somebody else between what was read and the change.
      if (rule.id === "deleted") await store.alertRuleDelete({ ...rule, event: null });
      return { value: 7, isOver: true };
    },
    internal: ({ name, dedupId, data }) => sampleBatch(environment, [sampleEvent({ name, dedupId, data })]),
    take: () => undefined,
  });
  watch.start();
  t.after(() => watch.stop().then(() => store.stop()));
  await until("the alert", async () => ((await told()).length >= 1 ? true : undefined));
  assert.deepEqual(await told(), ["inlet/alert.raised kept 0"], "a deleted rule raises no alert");
  archivedAt = 5;
  await until("the end of the alert", async () => ((await told()).length >= 2 ? true : undefined));
  assert.deepEqual(await told(), ["inlet/alert.resolved kept 1 environment_archived", "inlet/alert.raised kept 0"]);
  const [broken, kept] = await store.alertRuleList();
  assert.deepEqual([broken?.changes, kept?.raisedAt, kept?.changes], [0, null, 2], "each change is stored with its event");
  archivedAt = null;
  const raised = await until("the alert again", async () => (await store.alertRuleList()).find(({ raisedAt }) => raisedAt !== null));
  assert.deepEqual([await watch.remove(kept as AlertRule), await watch.remove(raised)], [false, true]);
  assert.deepEqual((await told())[0], "inlet/alert.resolved kept 3 rule_deleted");
});

testOnce("quiet hours may go over midnight, in any time zone", () => {
  const at = (time: string) => Date.parse(`2026-01-01T${time}:00Z`);
  const night = { quietHours: { from: "22:00", to: "06:00" } };
  assert.deepEqual(
    ["21:59", "22:00", "03:00", "05:59", "06:00"].map((time) => isQuiet(night, at(time))),
    [false, true, true, true, false],
  );
  assert.equal(isQuiet({ quietHours: null }, at("03:00")), false);
  const inBerlin = { quietHours: { ...night.quietHours, timeZone: "Europe/Berlin" } };
  assert.deepEqual(
    ["2026-01-01T20:59Z", "2026-01-01T21:00Z", "2026-01-01T05:00Z", "2026-07-01T20:00Z", "2026-07-01T04:00Z"].map((time) =>
      isQuiet(inBerlin, Date.parse(time)),
    ),
    [false, true, false, true, false],
    "by the clocks there, in winter and summer",
  );
});
