/** No statement walks through a table that grows: every one the store prepares is explained, lists with every filter too. */

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { test } from "node:test";
import type { EnvironmentId, EventId, FunctionNo, RunId } from "@inlet/protocol";
import { RUN_STATUSES, type RunListParams } from "../contract/index.ts";
import { DATABASE_FILE, openWriter } from "./database.ts";
import { getRun, listRuns } from "./read-runs.ts";
import { openSqliteStore } from "./sqlite-store.ts";

const GROWING = [
  "events",
  "runs",
  "steps",
  "queue",
  "waits",
  "marks",
  "dedup_keys",
  "failed_attempts",
  "calls",
  "webhook_requests",
  "lanes",
];
/** The first rows of a table, by a limit of their own. */
const FIRST_ROWS = [/^SELECT 1 FROM waits LIMIT 1$/, /FROM webhook_requests ORDER BY sequence LIMIT \?\)/];

/** Every text that is prepared while `act` runs, on any connection of this thread. */
async function preparedWhile(act: () => unknown): Promise<Set<string>> {
  const texts = new Set<string>();
  const { prepare } = DatabaseSync.prototype;
  DatabaseSync.prototype.prepare = function (this: DatabaseSync, sql: string): StatementSync {
    texts.add(sql.trim());
    return prepare.call(this, sql);
  };
  try {
    await act();
    return texts;
  } finally {
    DatabaseSync.prototype.prepare = prepare;
  }
}

function planOf(db: DatabaseSync, sql: string): string[] {
  return db
    .prepare(`EXPLAIN QUERY PLAN ${sql}`)
    .all()
    .map(({ detail }) => String(detail));
}

function walks(plan: readonly string[]): string[] {
  return plan.filter((detail) => GROWING.some((table) => new RegExp(`^SCAN ${table}\\b`).test(detail)));
}

test("nothing the store prepares walks through a table that grows", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "inlet-plans-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const texts = await preparedWhile(() => openSqliteStore({ folder, onFault: () => undefined, onRecovery: () => undefined }).stop());
  const db = openWriter(join(folder, DATABASE_FILE));
  t.after(() => db.close());
  const explained = [...texts].filter(
    (sql) => /^(SELECT|INSERT|UPDATE|DELETE)/.test(sql) && !FIRST_ROWS.some((bounded) => bounded.test(sql)),
  );
  assert.ok(explained.length > 60, `only ${explained.length} statements were seen`);
  assert.deepEqual(
    explained.filter((sql) => walks(planOf(db, sql)).length > 0),
    [],
  );
});

test("lists of runs are ranges of an index, in its order", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "inlet-plans-"));
  t.after(() => rmSync(folder, { recursive: true }));
  await openSqliteStore({ folder, onFault: () => undefined, onRecovery: () => undefined }).stop();
  const db = openWriter(join(folder, DATABASE_FILE));
  t.after(() => db.close());
  const environmentId = 1 as EnvironmentId;
  const lists: Omit<RunListParams, "environmentId" | "limit">[] = [undefined, ...RUN_STATUSES].flatMap((status) =>
    [undefined, [1 as FunctionNo]].flatMap((functionNos) =>
      [{}, { after: "01" as RunId, from: 1, to: 2 }].map((range) => ({
        ...range,
        ...(status && { status }),
        ...(functionNos && { functionNos }),
      })),
    ),
  );
  const texts = await preparedWhile(() => {
    for (const list of lists) listRuns(db, { environmentId, limit: 20, ...list });
  });
  assert.ok(texts.size >= 8, `only ${texts.size} lists were seen`);
  for (const sql of texts) {
    const plan = planOf(db, sql);
    assert.deepEqual(walks(plan), [], sql);
    assert.ok(!plan.some((detail) => detail.includes("TEMP B-TREE")), `sorted: ${sql}`);
    if (!/^SELECT run_id FROM runs/.test(sql)) continue;
    assert.match(plan[0] ?? "", /^SEARCH runs USING COVERING INDEX runs_\w+ \(environment_id=\?/, sql);
    if (sql.includes(" status = ?")) assert.match(plan[0] ?? "", /status=\?/, sql);
    if (sql.includes("function_no = ?")) assert.match(plan[0] ?? "", /function_no=\?/, sql);
    if (sql.includes("run_id < ?")) assert.match(plan[0] ?? "", /run_id>\? AND run_id<\?/, sql);
  }
  const single = await preparedWhile(() => {
    listRuns(db, { environmentId, limit: 20, eventId: "01" as EventId });
    getRun(db, { environmentId, id: "01" as RunId });
  });
  for (const sql of single) assert.deepEqual(walks(planOf(db, sql)), [], sql);
});
