/**
 * A disk that is full or read-only: requests are answered with 503 and Retry-After, the log says why, nothing that was
 * acknowledged is lost, and the service recovers by itself when the disk does.
 *
 * The disk is a real one, a small tmpfs of the test's own. Making it needs root on Linux; elsewhere the size of the database
 * file is capped instead, which gives SQLite's own "disk is full" from the same places.
 */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { GroupCommit } from "../src/store/sqlite/group-commit.ts";
import { onEnd } from "./support/on-end.ts";
import { type InletProcess, startInlet } from "./support/process.ts";
import { API_KEY, call, EVENT_KEY, temporaryFolder } from "./support/service.ts";
import { DISK_BYTES, fillDisk, folderOnDisk, smallDisk } from "./support/small-disk.ts";

const PAYLOAD = "x".repeat(100_000);

function start(t: TestContext, dataDir: string): Promise<InletProcess> {
  const flags = ["--port", "0", "--host", "127.0.0.1", "--data-dir", dataDir, "--event-key", EVENT_KEY, "--api-key", API_KEY];
  return startInlet(t, ["start", ...flags]);
}

async function send(inlet: InletProcess, n: number) {
  return call(`${inlet.url}/e/${EVENT_KEY}`, { method: "POST", body: JSON.stringify({ name: "disk/event", data: { n, PAYLOAD } }) });
}

async function assertKept(inlet: InletProcess, ids: string[]): Promise<void> {
  for (const id of ids) {
    const { status } = await call(`${inlet.url}/v1/events/${id}`, { headers: { authorization: `Bearer ${API_KEY}` } });
    assert.equal(status, 200, `event ${id} was acknowledged and is gone`);
  }
}

test("a full disk: 503 while it lasts, recovery without a restart", async (t) => {
  const disk = smallDisk(t);
  if (!disk) return t.skip("no disk of its own can be mounted here");
  const inlet = await start(t, disk);
  const kept: string[] = [];
  let refused = null;
  for (let n = 0; n < 500 && !refused; n++) {
    const answer = await send(inlet, n);
    if (answer.status === 200) kept.push(...answer.body.ids);
    else refused = answer;
  }
  assert.deepEqual([refused?.status, refused?.body.code], [503, "store_unavailable"]);
  assert.equal(refused?.headers.get("retry-after"), "1");
  assert.ok(kept.length > 5);
  await inlet.logged(/the disk is full/);
  await assertKept(inlet, kept);

  execFileSync("mount", ["-o", `remount,size=${DISK_BYTES * 8}`, disk]);
  const after = await send(inlet, 1_000);
  assert.equal(after.status, 200, "space is back, the next event is accepted");
  await inlet.logged(/can be written again/);
  await assertKept(inlet, [...kept, ...after.body.ids]);

  await inlet.end("SIGKILL");
  await assertKept(await start(t, disk), [...kept, ...after.body.ids]);
});

test("a disk filled by somebody else, and freed again", async (t) => {
  const disk = smallDisk(t);
  if (!disk) return t.skip("no disk of its own can be mounted here");
  const inlet = await start(t, disk);
  const before = await send(inlet, 1);
  assert.equal(before.status, 200);
  fillDisk(disk, "filler");
  // What is already in the log's file may still be overwritten, so the first event may find room.
  let refused = 200;
  for (let n = 0; n < 50 && refused === 200; n++) refused = (await send(inlet, 2)).status;
  assert.equal(refused, 503);
  rmSync(join(disk, "filler"));
  const after = await send(inlet, 3);
  assert.equal(after.status, 200);
  await assertKept(inlet, [...before.body.ids, ...after.body.ids]);
});

test("a folder that is read-only at start is refused with the reason", async (t) => {
  const disk = smallDisk(t);
  if (!disk) return t.skip("no disk of its own can be mounted here");
  execFileSync("mount", ["-o", "remount,ro", disk]);
  const refused = await start(t, disk).catch((error: Error) => error.message);
  assert.match(String(refused), /data folder .*(read-only|cannot be opened)/);
  execFileSync("mount", ["-o", "remount,rw", disk]);
  assert.equal((await send(await start(t, disk), 1)).status, 200);
});

test("files that become read-only under a running service, and writable again", async (t) => {
  const dataDir = folderOnDisk(t);
  const inlet = await start(t, dataDir);
  const before = await send(inlet, 1);
  const log = join(dataDir, "inlet.db-wal");
  if (!canFreeze(log)) return t.skip("files cannot be made immutable here");
  onEnd(t, () => execFileSync("chattr", ["-i", log]));
  const refused = await send(inlet, 2);
  assert.deepEqual([refused.status, refused.body.code], [503, "store_unavailable"]);
  await inlet.logged(/the store cannot be written/);
  assert.equal((await call(`${inlet.url}/health`)).status, 200, "the process serves");
  assert.equal((await call(`${inlet.url}/ready`)).status, 503, "but it is not ready");
  execFileSync("chattr", ["-i", log]);
  const after = await send(inlet, 3);
  assert.equal(after.status, 200);
  await assertKept(inlet, [...before.body.ids, ...after.body.ids]);
});

function canFreeze(file: string): boolean {
  try {
    execFileSync("chattr", ["+i", file], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

test("SQLite's own word for a full disk fails the group, keeps nothing of it, and passes", async (t) => {
  const db = new DatabaseSync(join(temporaryFolder(t), "capped.db"));
  onEnd(t, () => db.close());
  db.exec("CREATE TABLE rows (text TEXT)");
  const log: string[] = [];
  const writer = new GroupCommit(db, {
    onFault: (reason) => log.push(reason),
    onRecovery: () => log.push("recovered"),
    onCommit: () => undefined,
    beforeCommit: () => undefined,
    onRollback: () => undefined,
  });
  const insert = db.prepare("INSERT INTO rows VALUES (?)");
  const write = (size: number) => writer.submit(() => void insert.run("x".repeat(size)));

  db.exec("PRAGMA max_page_count = 5");
  const [small, large] = await Promise.allSettled([write(10), write(1_000_000)]);
  assert.deepEqual([small.status, large.status], ["rejected", "rejected"], "a group is kept whole or not at all");
  assert.match(log[0] ?? "", /the disk is full/);
  assert.equal(db.prepare("SELECT count(*) AS n FROM rows").get()?.n, 0);
  db.exec("PRAGMA max_page_count = 1000000");
  await write(1_000_000);
  assert.deepEqual(log.slice(1), ["recovered"]);
});
