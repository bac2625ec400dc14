/** Nobody but its owner reads the files of the store: they are made so, mended where they are not, and refused where that cannot be. */

import assert from "node:assert/strict";
import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { openSqliteStore } from "../src/store/sqlite/sqlite-store.ts";
import { runInlet, startInlet } from "./support/process.ts";
import { temporaryFolder } from "./support/service.ts";

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

function modesIn(folder: string): Record<string, string> {
  return Object.fromEntries(readdirSync(folder).map((name) => [name, modeOf(join(folder, name))]));
}

/** As most systems have it: what programs make is readable by all unless they say otherwise. */
const before = process.umask(0o022);
process.on("exit", () => process.umask(before));

test("every file of a running store is its owner's alone", async (t) => {
  const folder = join(temporaryFolder(t), "made", "here");
  const inlet = await startInlet(t, ["start", "--port", "0", "--data-dir", folder]);
  assert.equal((await fetch(`${inlet.url}/health`)).status, 200);
  assert.equal(modeOf(folder), "700");
  const modes = modesIn(folder);
  assert.ok(Object.keys(modes).includes("inlet.db-wal"), "the log of the database is there too");
  for (const [name, mode] of Object.entries(modes)) assert.equal(mode, "600", name);
});

test("a folder and files that others can read are closed to them", async (t) => {
  const folder = join(temporaryFolder(t), "open");
  const options = { folder, onFault: () => undefined, onRecovery: () => undefined };
  const first = openSqliteStore(options);
  await first.stop();
  chmodSync(folder, 0o755);
  for (const name of readdirSync(folder)) chmodSync(join(folder, name), 0o644);
  const second = openSqliteStore(options);
  t.after(() => second.stop());
  assert.equal(modeOf(folder), "700");
  for (const [name, mode] of Object.entries(modesIn(folder))) assert.equal(mode, "600", name);
});

test("a folder that holds other things too is refused with the reason, and left as it is", async (t) => {
  const folder = join(temporaryFolder(t), "shared");
  mkdirSync(folder, { mode: 0o755 });
  writeFileSync(join(folder, "letter.txt"), "somebody else's");
  const { code, stderr } = await runInlet(t, ["start", "--port", "0", "--data-dir", folder]);
  assert.equal(code, 1);
  assert.match(stderr, /can be read by other users of this machine.*letter\.txt.*--data-dir.*chmod 700/);
  assert.deepEqual([modeOf(folder), readdirSync(folder)], ["755", ["letter.txt"]]);
  chmodSync(folder, 0o700);
  await startInlet(t, ["start", "--port", "0", "--data-dir", folder]);
});
