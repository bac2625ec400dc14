/** Alerts: raised and resolved as internal events that functions subscribe to, once each, noted in the audit log. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { isQuiet } from "../src/alerts/alert-watch.ts";
import { startApp } from "./support/app.ts";
import { freshDatabase, whyNoPostgres } from "./support/postgres.ts";
import { until } from "./support/runs.ts";
import { startTestService } from "./support/service.ts";

for (const engine of ["sqlite", "postgres"]) {
  const skip = engine === "postgres" ? (whyNoPostgres() ?? false) : false;
  test(`${engine}: an alert is raised once, starts functions, shows, and is resolved`, { skip }, async (t) => {
    const service = await startTestService(t, engine === "postgres" ? { databaseUrl: await freshDatabase(t) } : {});
    const told: string[] = [];
    await startApp(t, service, (inlet) => [
      inlet.createFunction({ id: "pay", retries: 0 }, { event: "shop/order" }, () => {
        throw new Error("card declined");
      }),
      inlet.createFunction({ id: "shaped" }, { event: "shop/shaped" }, () => undefined),
      inlet.createFunction({ id: "tell" }, [{ event: "inlet/alert.raised" }, { event: "inlet/alert.resolved" }], ({ event }) => {
        told.push(`${event.name} ${event.data.rule.name} ${event.data.value}`);
      }),
    ]);
    const rule = async (body: object) => {
      const made = await service.rest("POST", "/alert-rules", { body });
      assert.equal(made.status, 201, made.text);
      return made.body.data;
    };
    const failures = await rule({ name: "failures", kind: "failure_count", function: "shop-pay", threshold: 2 });
    await rule({ name: "rate", kind: "failure_rate", function: "shop-pay", threshold: 60 });
    await rule({ name: "lost", kind: "unmatched_events", threshold: 1 });
    await rule({ name: "drift", kind: "schema_drift", threshold: 1 });
    await rule({ name: "far away", kind: "failure_count", threshold: 1_000 });
    await rule({ name: "asleep", kind: "failure_count", threshold: 1, quietHours: { from: "00:00", to: "23:59" } });
    await service.send([...Array(10).fill({ name: "shop/shaped", data: { n: 1 } }), { name: "shop/shaped", data: { n: 1, extra: "new" } }]);
    await service.send([...Array(3).fill({ name: "shop/order", data: {} }), { name: "shop/nobody", data: {} }]);
    await until("four alerts", () => (told.length >= 4 ? true : undefined));
    const raised = ["drift 1", "failures 3", "lost 1", "rate 100"].map((alert) => `inlet/alert.raised ${alert}`);
    assert.deepEqual([...told].sort(), raised);
    const active = (await service.rest("GET", "/alerts")).body.data;
    assert.deepEqual(active.map(({ name }: { name: string }) => name).sort(), ["drift", "failures", "lost", "rate"]);
    const changed = await service.rest("PUT", `/alert-rules/${failures.id}`, { body: { threshold: 50 } });
    assert.deepEqual([changed.status, changed.body.data.threshold, changed.body.data.kind], [200, 50, "failure_count"]);
    await until("the alert to be resolved", () => (told.includes("inlet/alert.resolved failures 3") ? true : undefined));
    assert.equal(told.filter((line) => line.includes("raised")).length, 4, "each was raised once");
    const audited = (await service.rest("GET", "/audit-log?action=alert.*")).body.data;
    assert.deepEqual([...new Set(audited.map(({ action }: { action: string }) => action))].sort(), ["alert.raised", "alert.resolved"]);
    assert.equal((await service.rest("DELETE", `/alert-rules/${failures.id}`)).status, 200);
    assert.equal((await service.rest("PUT", `/alert-rules/${failures.id}`, { body: {} })).body.code, "alert_rule_not_found");
    assert.equal((await service.rest("POST", "/alert-rules", { body: { name: "x", kind: "mood", threshold: 1 } })).status, 400);
  });
}

test("quiet hours may go over midnight", () => {
  const at = (time: string) => Date.parse(`2026-01-01T${time}:00Z`);
  const night = { quietHours: { from: "22:00", to: "06:00" } };
  assert.deepEqual(
    ["21:59", "22:00", "03:00", "05:59", "06:00"].map((time) => isQuiet(night, at(time))),
    [false, true, true, true, false],
  );
  assert.equal(isQuiet({ quietHours: null }, at("03:00")), false);
});
