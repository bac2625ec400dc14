import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { type EnvironmentId, type FunctionNo, firstIdAt } from "@inlet/protocol";
import { temporaryFolder } from "../../test/support/service.ts";
import { makeEnvironment, sampleBatch, sampleEvent } from "../store/conformance/samples.ts";
import type { AlertRule, Store } from "../store/contract/index.ts";
import { DATABASE_FILE } from "../store/sqlite/database.ts";
import { openSqliteStore } from "../store/sqlite/sqlite-store.ts";
import { makeWebhook, sampleRequest } from "../store/webhooks/conformance.ts";
import { type MeasureParts, measure } from "./measure.ts";

const NOW = Date.UTC(2026, 0, 5);
const WINDOW_MS = 300_000;
const [BUSY, QUIET] = [1 as FunctionNo, 2 as FunctionNo];
const RULE = {
  id: "alr_1",
  name: "failures",
  kind: "failure_rate",
  functionId: null,
  webhookId: null,
  eventName: null,
  threshold: 5,
  windowMs: WINDOW_MS,
  quietHours: null,
  isEnabled: true,
  createdAt: 1,
  updatedAt: 1,
  raisedAt: null,
  lastRaisedAt: null,
  value: null,
  changes: 0,
} as const;

interface Ended {
  functionNo: FunctionNo;
  status: "completed" | "failed";
  createdAt: number;
  endedAt: number;
}

async function open(t: TestContext) {
  const folder = temporaryFolder(t);
  const store = openSqliteStore({ folder, onFault: () => undefined, onRecovery: () => undefined });
  t.after(() => store.stop());
  const environment = await makeEnvironment(store);
  const db = new DatabaseSync(join(folder, DATABASE_FILE));
  t.after(() => db.close());
  return {
    store,
    environment,
    environmentId: environment.id,
    db,
    insert: (runs: readonly Ended[]) => insertRuns(db, environment.id, runs),
  };
}

/** Tens of thousands, which would take long to run. */
function insertRuns(db: DatabaseSync, environmentId: EnvironmentId, runs: readonly Ended[]): void {
  const insert = db.prepare(`
    INSERT INTO runs (environment_id, run_id, function_no, event_no, status, lane, created_at, ended_at) VALUES (?, ?, ?, 1, ?, '', ?, ?)`);
  db.exec("BEGIN IMMEDIATE");
  for (const [n, { functionNo, status, createdAt, endedAt }] of runs.entries())
    insert.run(environmentId, `${firstIdAt(createdAt)}${String(n).padStart(6, "0")}`, functionNo, status, createdAt, endedAt);
  db.exec("COMMIT");
}

/** Adds `count` copies of each row that the condition holds for, with ids of their own. */
function copyTimes(db: DatabaseSync, count: number, table: string, id: string, condition: string): void {
  const names = (db.prepare(`PRAGMA table_info(${table})`).all() as { name: string }[]).map(({ name }) => name);
  const kept = names.filter((name) => name !== "sequence" && name !== id);
  db.exec(`
    INSERT INTO ${table} (${id}, ${kept.join(", ")})
    WITH RECURSIVE copies (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM copies WHERE n < ${count})
    SELECT ${id} || '_' || n, ${kept.join(", ")} FROM copies, ${table} WHERE ${condition}`);
}

/** `count` of them, which ended evenly over twice the window, each `tookMs` after it was created. */
function ended(functionNo: FunctionNo, status: Ended["status"], count: number, tookMs: number): Ended[] {
  return Array.from({ length: count }, (_, n) => {
    const endedAt = NOW - Math.floor((n / count) * 2 * WINDOW_MS);
    return { functionNo, status, createdAt: endedAt - tookMs, endedAt };
  });
}

function measured(store: Store, environmentId: EnvironmentId, changes: Partial<AlertRule> = {}, others: Partial<MeasureParts> = {}) {
  const functionNos = (_: EnvironmentId, id: string | null) => (id === null ? [BUSY, QUIET] : [id === "busy" ? BUSY : QUIET]);
  const parts = { store, functionNos, now: () => NOW, ...others } as unknown as MeasureParts;
  return measure(parts, { ...RULE, environmentId, ...changes });
}

test("the rate of failed runs is right however many runs end in the window, and however long those that fail take", async (t) => {
  const { store, environmentId, insert } = await open(t);
  insert([
    ...ended(BUSY, "completed", 49_000, 50),
    ...ended(BUSY, "failed", 1_000, 600_000),
    ...ended(QUIET, "completed", 300, 50),
    ...ended(QUIET, "failed", 100, 600_000),
  ]);
  const { value: busy, isOver } = await measured(store, environmentId, { functionId: "busy" });
  assert.ok(Math.abs(busy - 2) < 0.1 && !isOver, `${busy} %`);
  const { value: quiet } = await measured(store, environmentId, { functionId: "quiet" });
  assert.ok(Math.abs(quiet - 25) < 0.3, `${quiet} %`);
  const { value: all } = await measured(store, environmentId);
  assert.ok(Math.abs(all - (1_100 / 50_400) * 100) < 0.1, `${all} %`);
  const { value: count } = await measured(store, environmentId, { kind: "failure_count" });
  assert.ok(Math.abs(count - 550) <= 2, String(count));
});

test("more failed runs than are counted are compared with runs that completed in the same time", async (t) => {
  const { store, environmentId, insert } = await open(t);
  insert([...ended(BUSY, "completed", 10_000, 50), ...ended(BUSY, "failed", 40_000, 50)]);
  const { value } = await measured(store, environmentId, { functionId: "busy" });
  assert.ok(Math.abs(value - 80) < 0.5, `${value} %`);
});

test("all refused requests of the window are counted", async (t) => {
  const { store, environment, environmentId, db } = await open(t);
  const webhook = await makeWebhook(store, environment);
  const webhooks = () => [webhook];
  const outcomes = ["transform_failed", "ip_denied", "accepted", "handshake"];
  for (const [n, outcome] of outcomes.entries())
    await store.webhookRequestInsert(sampleRequest(webhook, n, { outcome, receivedAt: NOW - n }));
  await store.webhookRequestInsert(sampleRequest(webhook, 9, { receivedAt: NOW - WINDOW_MS - 1 }));
  const refused = () => measured(store, environmentId, { kind: "refused_requests" }, { webhooks });
  assert.equal((await refused()).value, 2);
  copyTimes(db, 12_499, "webhook_requests", "request_id", `received_at > ${NOW - WINDOW_MS}`);
  assert.equal((await refused()).value, 25_000);
});

test("all events of the window that nobody waited for are counted, however large they are", async (t) => {
  const { store, environment, environmentId, db } = await open(t);
  const at = (receivedAt: number, kind: "key" | "internal" = "key") => ({ receivedAt, source: { kind, id: "one" } });
  const data = JSON.stringify("x".repeat(32 * 1024));
  await store.eventAppend(sampleBatch(environment, [sampleEvent({ data }), sampleEvent({ data })], at(NOW)));
  await store.eventAppend(sampleBatch(environment, [sampleEvent({ data })], at(NOW - WINDOW_MS - 1)));
  await store.eventAppend(sampleBatch(environment, [sampleEvent({ data })], at(NOW, "internal")));
  db.exec("UPDATE events SET matched = 1 WHERE sequence = 1");
  const unmatched = () => measured(store, environmentId, { kind: "unmatched_events" });
  assert.equal((await unmatched()).value, 1);
  copyTimes(db, 5_999, "events", "event_id", "sequence = 2");
  assert.equal((await unmatched()).value, 6_000);
});
