/** Stores that share the read thread of a process do not disturb each other, and leave no file open. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { promisify } from "node:util";
import { type Store, StoreUnavailable } from "../contract/index.ts";
import { openSqliteStore } from "./sqlite-store.ts";

test("a store that stops leaves the reads of another one alone", async (t) => {
  const [first, second] = [openStore(t), openStore(t)];
  const ended = assert.rejects(read(first.store), StoreUnavailable);
  const reads = Array.from({ length: 50 }, () => read(second.store));
  await first.store.stop();
  await ended;
  for (const depths of await Promise.all(reads)) assert.deepEqual(depths, []);
  await second.store.stop();
});

test("a store that stops ends its reads, and the next store can read", async (t) => {
  const { store } = openStore(t);
  await read(store);
  const ended = assert.rejects(read(store), StoreUnavailable);
  await store.stop();
  await ended;
  await assert.rejects(read(store), StoreUnavailable);
  assert.deepEqual(await read(openStore(t).store), []);
});

test("no file is open when a store has stopped", { skip: process.platform !== "linux" && "needs /proc" }, async (t) => {
  const [first, second] = [openStore(t), openStore(t)];
  await Promise.all([read(first.store), read(second.store)]);
  assert.notDeepEqual(openFiles(first.folder), []);
  await first.store.stop();
  assert.deepEqual(openFiles(first.folder), []);
  assert.deepEqual(await read(second.store), []);
  await second.store.stop();
  assert.deepEqual(openFiles(second.folder), []);
});

test("a store that was stopped can be opened and read again", async (t) => {
  const { folder, store } = openStore(t);
  await read(store);
  await store.stop();
  const again = openSqliteStore({ folder, onFault() {}, onRecovery() {} });
  assert.deepEqual(await read(again), []);
  await again.stop();
});

test("a process that waits for nothing but a read stays alive for it, and ends when its stores have stopped", async (t) => {
  const read = "console.log(JSON.stringify(await store.queueDepths()));";
  assert.equal(await runWithStore(t, read), "[]\n[]\n");
});

test("a process that stops a store whose read was just answered stays alive until the store has stopped", async (t) => {
  // The response arrives while this thread is blocked, so it is still to be received when the store ends the read.
  const readAndStop = `await store.queueDepths();
    const ended = store.queueDepths().catch(({ name }) => name);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
    await store.stop();
    console.log(await ended);`;
  assert.equal(await runWithStore(t, readAndStop), "StoreUnavailable\nStoreUnavailable\n");
});

/** Runs the code in a process of its own, for one store after the other. Returns what it printed. */
async function runWithStore(t: TestContext, code: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "inlet-reader-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const program = join(folder, "program.mjs");
  writeFileSync(
    program,
    `import { openSqliteStore } from ${JSON.stringify(import.meta.resolve("./sqlite-store.ts"))};
    for (let n = 0; n < 2; n++) {
      const store = openSqliteStore({ folder: ${JSON.stringify(join(folder, "store"))}, onFault() {}, onRecovery() {} });
      ${code}
      await store.stop();
    }`,
  );
  const { stdout } = await promisify(execFile)(process.execPath, [program], { timeout: 300_000 });
  return stdout;
}

function openStore(t: TestContext): { folder: string; store: Store } {
  const folder = mkdtempSync(join(tmpdir(), "inlet-reader-"));
  const store = openSqliteStore({ folder, onFault() {}, onRecovery() {} });
  t.after(async () => {
    await store.stop();
    rmSync(folder, { recursive: true });
  });
  return { folder, store };
}

function read(store: Store): Promise<unknown> {
  return store.queueDepths();
}

function openFiles(folder: string): string[] {
  return readdirSync("/proc/self/fd")
    .map(linkOf)
    .filter((path) => path.startsWith(folder));
}

function linkOf(fd: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    // It was that of this listing.
    return "";
  }
}
