import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { Checkpointer, checkpoint } from "./checkpointer.ts";
import { openWriter } from "./database.ts";

function openPair(t: TestContext): { db: DatabaseSync; other: DatabaseSync } {
  const folder = mkdtempSync(join(tmpdir(), "inlet-checkpoint-"));
  const [db, other] = [openWriter(join(folder, "t.db")), openWriter(join(folder, "t.db"))];
  t.after(() => {
    db.close();
    other.close();
    rmSync(folder, { recursive: true });
  });
  db.exec("CREATE TABLE rows (text TEXT)");
  return { db, other };
}

/** About 5,000 pages. */
function writeMuch(db: DatabaseSync): void {
  db.prepare("INSERT INTO rows VALUES (?)").run("x".repeat(20 * 1024 * 1024));
}

function pagesInLog(db: DatabaseSync): number {
  db.prepare("INSERT INTO rows VALUES ('one more')").run();
  return checkpoint(db).log;
}

async function poll(condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (!condition()) {
    assert.ok(Date.now() < deadline, "this did not come about in time");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

for (const [how, elsewhere] of [
  ["on the other connection", (other: DatabaseSync) => Promise.resolve(checkpoint(other))],
  ["by the writer, when the other connection is gone", () => Promise.reject(new Error("gone"))],
] as const) {
  test(`a log that has grown is moved and reused: ${how}`, async (t) => {
    const { db, other } = openPair(t);
    const checkpointer = new Checkpointer(db, () => elsewhere(other));
    t.after(() => checkpointer.stop());
    writeMuch(db);
    checkpointer.noteCommit();
    await poll(() => pagesInLog(other) < 100);
  });
}

test("a checkpoint that fails does not bring the process down", async (t) => {
  const { db } = openPair(t);
  let tried = 0;
  const checkpointer = new Checkpointer(db, () => {
    tried++;
    db.close();
    return Promise.reject(new Error("the disk is in trouble"));
  });
  checkpointer.noteCommit();
  await poll(() => tried > 0);
  await new Promise((resolve) => setImmediate(resolve));
  db.open();
});
