import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { lockFolder } from "./folder-lock.ts";
import { inspectFolder } from "./inspect-folder.ts";

function folder(t: TestContext): string {
  const made = mkdtempSync(join(tmpdir(), "inlet-test-"));
  t.after(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

test("a folder that is not there yet, or empty", (t) => {
  const place = folder(t);
  const missing = inspectFolder(join(place, "a/b"));
  assert.deepEqual([missing.exists, missing.notWritable, missing.schema, missing.inUseBy], [false, null, null, null]);
  assert.ok(missing.freeBytes > 0);
  assert.equal(inspectFolder(place).exists, true);
  writeFileSync(join(place, "file"), "");
  assert.equal(inspectFolder(join(place, "file")).notWritable, "it is not a folder");
});

test("whether it is in use, by whom, and who may read it", (t) => {
  const place = folder(t);
  chmodSync(place, 0o755);
  const lock = lockFolder(place);
  assert.deepEqual([inspectFolder(place).inUseBy, inspectFolder(place).isOpenToOthers], [String(process.pid), true]);
  lock.release();
  assert.equal(inspectFolder(place).inUseBy, null);
});

test("the schema of the database, and a file that is none", (t) => {
  const place = folder(t);
  const db = new DatabaseSync(join(place, "inlet.db"));
  db.exec("CREATE TABLE a (b); PRAGMA user_version = 999");
  db.close();
  const { schema, usedBytes } = inspectFolder(place);
  assert.equal(schema?.version, 999);
  assert.ok((schema?.known ?? 0) >= 2 && usedBytes > 0);
  writeFileSync(join(place, "inlet.db"), "this is not a database, but long enough to be looked at as one ".repeat(20));
  assert.match(inspectFolder(place).databaseFault ?? "", /not a database/);
});
