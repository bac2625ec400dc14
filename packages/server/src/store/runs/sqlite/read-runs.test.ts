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
import { getRun } from "./read-runs.ts";

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
