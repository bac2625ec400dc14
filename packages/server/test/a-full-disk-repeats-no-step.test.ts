/**
 * A store that cannot be written while runs are under way: a response that cannot be committed is kept until it can. No step
 * runs twice, no run is lost, and nothing has to be restarted. (What happens to events meanwhile: a-full-disk-loses-nothing.)
 *
 * The disk is a real one, a small tmpfs, or a file that is made immutable; both need root on Linux.
 */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { onEnd } from "./support/on-end.ts";
import { startOneRun } from "./support/one-run.ts";
import { call } from "./support/service.ts";
import { fillDisk, folderOnDisk, smallDisk } from "./support/small-disk.ts";

const LARGE = "x".repeat(200_000);
const WRITES_LATER = 5;

test("a full disk: the response waits for room, and its step runs once", async (t) => {
  const disk = smallDisk(t);
  if (!disk) return t.skip("no disk of its own can be mounted here");
  const scene = await startOneRun(t, { dataDir: disk });
  await scene.begin();
  const first = await scene.app.next();
  fillDisk(disk, "filler");
  // The log has room of its own that is used first: it takes until an event as large as the response is refused.
  while ((await sendLarge(scene.inlet.url)) !== 503);
  await first.ranStep("a", LARGE.repeat(3));
  await scene.inlet.logged(/the disk is full/);
  // Writes that come later fail, too: the service has learned long ago that the response is not kept.
  for (let n = 0; n < WRITES_LATER; n++) assert.equal(await sendLarge(scene.inlet.url), 503);
  assert.equal(scene.app.calls, 1, "nothing is called on the strength of a response that is not kept");
  rmSync(join(disk, "filler"));
  const next = await scene.app.next();
  assert.deepEqual(next.done, ["a"]);
  await next.finish("done");
  assert.equal((await scene.ended()).status, "completed");
  assert.equal(scene.app.calls, 2);
});

async function sendLarge(url: string): Promise<number> {
  const body = JSON.stringify({ name: "disk/event", data: { LARGE } });
  return (await call(`${url}/e/key`, { method: "POST", body })).status;
}

test("a store that becomes read-only: the response is kept, and the run goes on when it can be written", async (t) => {
  const dataDir = folderOnDisk(t);
  const scene = await startOneRun(t, { dataDir });
  await scene.begin();
  const first = await scene.app.next();
  const log = join(dataDir, "inlet.db-wal");
  try {
    execFileSync("chattr", ["+i", log], { stdio: "ignore" });
  } catch {
    return t.skip("files cannot be made immutable here");
  }
  const thaw = () => execFileSync("chattr", ["-i", log]);
  onEnd(t, thaw);
  await first.ranStep("a");
  await scene.inlet.logged(/the store cannot be written/);
  for (let n = 0; n < WRITES_LATER; n++) assert.equal(await sendLarge(scene.inlet.url), 503);
  assert.equal(scene.app.calls, 1);
  thaw();
  const next = await scene.app.next();
  assert.deepEqual(next.done, ["a"]);
  await next.finish("done");
  assert.equal((await scene.ended()).status, "completed");
  assert.equal(scene.app.calls, 2);
});
