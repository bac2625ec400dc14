/** A folder another process uses, and files that are damaged or newer: refused at start, with a sentence, leaving all as it is. */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { copyFileSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { runInlet, startInlet } from "./support/process.ts";
import { startTestService, temporaryFolder } from "./support/service.ts";

const flags = (dataDir: string) => ["--port", "0", "--host", "127.0.0.1", "--data-dir", dataDir];

/** A data folder with events in it, stopped in good order. */
async function usedFolder(t: TestContext): Promise<string> {
  const service = await startTestService(t);
  for (let n = 0; n < 40; n++) await service.send({ name: "a/b", data: { n, text: "x".repeat(5_000) } });
  await service.stop();
  return service.dataDir;
}

/** As a crash leaves it: what the statement changes is in the write-ahead log only. */
function crashedFolder(t: TestContext, dataDir: string, statement: string): string {
  const folder = temporaryFolder(t);
  const db = new DatabaseSync(join(dataDir, "inlet.db"));
  db.exec(`PRAGMA wal_autocheckpoint = 0; ${statement}`);
  for (const name of ["inlet.db", "inlet.db-wal", "inlet.key"]) copyFileSync(join(dataDir, name), join(folder, name));
  db.close();
  assert.ok(statSync(join(folder, "inlet.db-wal")).size > 0);
  return folder;
}

/** Of every file with data: not the index of the write-ahead log, and who uses the folder. */
function hashesIn(dataDir: string): Record<string, string> {
  const names = readdirSync(dataDir).filter((name) => !/-shm$|\.lock$|\.pid$/.test(name) && statSync(join(dataDir, name)).size > 0);
  return Object.fromEntries(
    names.map((name) => [
      name,
      createHash("sha256")
        .update(readFileSync(join(dataDir, name)))
        .digest("hex"),
    ]),
  );
}

async function assertRefused(t: TestContext, dataDir: string, message: RegExp): Promise<void> {
  const before = hashesIn(dataDir);
  const { code, stderr, stdout } = await runInlet(t, ["start", ...flags(dataDir)]);
  assert.equal(code, 1);
  assert.match(stderr, message);
  assert.match(stderr, /^error: /);
  assert.ok(!stderr.includes("    at "), `a person should not see a stack trace:\n${stderr}`);
  assert.equal(stdout, "");
  assert.deepEqual(hashesIn(dataDir), before, "files were changed");
}

test("a second process on the same folder", async (t) => {
  const dataDir = temporaryFolder(t);
  const first = await startInlet(t, ["start", ...flags(dataDir)]);
  const second = await runInlet(t, ["start", ...flags(dataDir)]);
  assert.equal(second.code, 1);
  assert.match(second.stderr, new RegExp(`in use by another Inlet process \\(pid ${first.child.pid}\\)`));
  assert.match(second.stderr, /--data-dir/);
  assert.equal((await fetch(`${first.url}/health`)).status, 200, "the first goes on");
  await first.end("SIGKILL");
  await startInlet(t, ["start", ...flags(dataDir)]);
});

test("a file that is no database", async (t) => {
  const dataDir = temporaryFolder(t);
  writeFileSync(join(dataDir, "inlet.db"), "this is not a database, but it is long enough to look at. ".repeat(200));
  await assertRefused(t, dataDir, /inlet\.db cannot be used: the database file is not a database/);
});

test("a file that was cut short", async (t) => {
  const dataDir = await usedFolder(t);
  const file = join(dataDir, "inlet.db");
  truncateSync(file, readFileSync(file).length - 4096 * 5);
  await assertRefused(t, dataDir, /cannot be used/);
});

test("a file with damaged pages, and a write-ahead log", async (t) => {
  const dataDir = crashedFolder(t, await usedFolder(t), "CREATE TABLE another (n INTEGER)");
  const file = join(dataDir, "inlet.db");
  const bytes = readFileSync(file);
  bytes.fill(0xa5, 4096 * 2, 4096 * 12);
  writeFileSync(file, bytes);
  await assertRefused(t, dataDir, /cannot be used/);
});

test("a file written by a newer version", async (t) => {
  const dataDir = await usedFolder(t);
  const newer = /schema 9999.*newer version of Inlet/;
  await assertRefused(t, crashedFolder(t, dataDir, "PRAGMA user_version = 9999"), newer);
  const db = new DatabaseSync(join(dataDir, "inlet.db"));
  db.exec("PRAGMA journal_mode = DELETE");
  db.close();
  await assertRefused(t, dataDir, newer);
});

test("a folder that cannot be created", async (t) => {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, "file"), "");
  const { code, stderr } = await runInlet(t, ["start", ...flags(join(folder, "file", "below"))]);
  assert.equal(code, 1);
  assert.match(stderr, /data folder .* cannot be created/);
});

test("payloads are private: a folder made by the service is the owner's alone", async (t) => {
  const dataDir = join(temporaryFolder(t), "new");
  await startTestService(t, { dataDir });
  assert.equal(statSync(dataDir).mode & 0o777, 0o700);
});

test("a folder below one that takes none", { skip: process.platform !== "linux" }, async (t) => {
  for (const [command, dataDir] of [
    ["start", "/proc/x"],
    ["dev", "/proc/x/deeper"],
  ] as const) {
    const { code, stderr } = await runInlet(t, [command, ...flags(dataDir)]);
    assert.equal(code, 1, stderr);
    assert.match(stderr, /the data folder \/proc\/x\S* cannot be created/);
  }
});
