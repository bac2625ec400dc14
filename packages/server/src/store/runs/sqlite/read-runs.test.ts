import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { onEnd } from "../../../../test/support/on-end.ts";
import { advance, beginOne, doneStep, makeScene, SAMPLE_RULES, sampleEnd } from "../../conformance/run-samples.ts";
import { DATABASE_FILE } from "../../sqlite/database.ts";
import { openSqliteStore } from "../../sqlite/sqlite-store.ts";
import { getRun, listRuns } from "./read-runs.ts";

/** More than a search reads in any case: see events/rows/event-pages.ts. */
const MANY_RUNS = `
  WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 5000)
  INSERT INTO runs (environment_id, run_id, function_no, event_no, status, lane, created_at, ended_at)
  SELECT ?, printf('01%024d', n), ?, 1, 'failed', 'app:1', 1, 1 FROM n`;

test("a run that is removed while it is read is read with all its steps", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "inlet-read-runs-"));
  onEnd(t, () => rmSync(folder, { recursive: true, force: true }));
  const store = openSqliteStore({ folder, rules: SAMPLE_RULES, onFault: () => undefined, onRecovery: () => undefined });
  onEnd(t, () => store.stop());
  const scene = await makeScene(store);
  const begun = await beginOne(scene);
  await advance(scene, begun, { steps: [doneStep("a")], end: sampleEnd({ endedAt: 2_000 }) });
  const [reader, remover] = [1, 2].map(() => new DatabaseSync(join(folder, DATABASE_FILE)));
  assert.ok(reader && remover);
  onEnd(t, () => [reader, remover].forEach((db) => void db.close()));
  // Between the run and its steps.
  const held = new Proxy(reader, {
    get(db, name) {
      if (name !== "prepare") return (db[name as keyof DatabaseSync] as () => unknown).bind(db);
      return (sql: string) => {
        if (sql.includes("FROM steps"))
          for (const table of ["steps", "runs"]) remover.exec(`DELETE FROM ${table} WHERE run_no = ${begun.runNo}`);
        return db.prepare(sql);
      };
    },
  });
  const key = { environmentId: scene.environment.id, id: begun.run.id };
  assert.deepEqual(
    getRun(held, key)?.steps.map(({ name, status }) => [name, status]),
    [["a", "completed"]],
  );
  assert.equal(getRun(reader, key), null);
});

test("a list of runs by whether they were rerun stops early, with a cursor", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "inlet-list-runs-"));
  onEnd(t, () => rmSync(folder, { recursive: true, force: true }));
  const store = openSqliteStore({ folder, rules: SAMPLE_RULES, onFault: () => undefined, onRecovery: () => undefined });
  onEnd(t, () => store.stop());
  const { environment, functions } = await makeScene(store);
  const db = new DatabaseSync(join(folder, DATABASE_FILE));
  onEnd(t, () => db.close());
  db.prepare(MANY_RUNS).run(environment.id, functions[0]);
  let now = 0;
  t.mock.method(Date, "now", () => (now += 10_000));
  const list = { environmentId: environment.id, limit: 20, status: "failed", rerun: true } as const;
  const { runs, next } = await listRuns(db, list);
  assert.deepEqual(runs, []);
  assert.ok(next);
  assert.deepEqual(await listRuns(db, { ...list, after: next }), { runs: [], next: null });
});
