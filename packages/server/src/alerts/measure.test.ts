import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { type EnvironmentId, type FunctionNo, firstIdAt } from "@inlet/protocol";
import { temporaryFolder } from "../../test/support/service.ts";
import { makeEnvironment } from "../store/conformance/samples.ts";
import type { AlertRule, Store } from "../store/contract/index.ts";
import { DATABASE_FILE } from "../store/sqlite/database.ts";
import { openSqliteStore } from "../store/sqlite/sqlite-store.ts";
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
  return { store, environmentId: environment.id, insert: (runs: readonly Ended[]) => insertRuns(db, environment.id, runs) };
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

/** `count` of them, which ended evenly over twice the window, each `tookMs` after it was created. */
function ended(functionNo: FunctionNo, status: Ended["status"], count: number, tookMs: number): Ended[] {
  return Array.from({ length: count }, (_, n) => {
    const endedAt = NOW - Math.floor((n / count) * 2 * WINDOW_MS);
    return { functionNo, status, createdAt: endedAt - tookMs, endedAt };
  });
}

function measured(store: Store, environmentId: EnvironmentId, changes: Partial<AlertRule> = {}) {
  const functionNos = (_: EnvironmentId, id: string | null) => (id === null ? [BUSY, QUIET] : [id === "busy" ? BUSY : QUIET]);
  return measure({ store, functionNos, now: () => NOW } as unknown as MeasureParts, { ...RULE, environmentId, ...changes });
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
