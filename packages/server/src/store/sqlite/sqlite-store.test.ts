import assert from "node:assert/strict";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, type TestContext, test } from "node:test";
import { pathToFileURL } from "node:url";
import { onEnd } from "../../../test/support/on-end.ts";
import { storeConformance } from "../conformance/conformance.ts";
import { SAMPLE_RULES } from "../conformance/run-samples.ts";
import { makeEnvironment, sampleBatch, sampleEvent } from "../conformance/samples.ts";
import { type Store, StoreRefused, StoreUnavailable } from "../contract/index.ts";
import { DATABASE_FILE, openWriter } from "./database.ts";
import { openChecked } from "./folder/open-folder.ts";
import { openSqliteStore } from "./sqlite-store.ts";

/** A database file at the schema of this program, made once: a copy takes less time than to migrate another. */
let migrated: string | null = null;
after(() => migrated && rmSync(dirname(migrated), { recursive: true }));

function migratedFile(): string {
  if (migrated) return migrated;
  const file = join(mkdtempSync(join(tmpdir(), "inlet-migrated-")), DATABASE_FILE);
  openChecked(file, (db) => db).close();
  migrated = file;
  return file;
}

function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "inlet-store-"));
  onEnd(t, () => rmSync(folder, { recursive: true }));
  return folder;
}

function open(t: TestContext) {
  const folder = temporaryFolder(t);
  copyFileSync(migratedFile(), join(folder, DATABASE_FILE));
  const openStore = () => openSqliteStore({ folder, rules: SAMPLE_RULES, onFault: () => undefined, onRecovery: () => undefined });
  let store: Store = openStore();
  onEnd(t, () => store.stop());
  const reopen = async () => {
    await store.stop();
    store = openStore();
    return store;
  };
  return { store, reopen, folder };
}

storeConformance({ name: "sqlite", open: async (t) => open(t) });

test("every commit waits for the disk", (t) => {
  const { folder } = open(t);
  const db = openWriter(join(folder, "another.db"));
  onEnd(t, () => db.close());
  assert.equal(db.prepare("PRAGMA synchronous").get()?.synchronous, 2, "2 is FULL");
  assert.equal(db.prepare("PRAGMA journal_mode").get()?.journal_mode, "wal");
});

test("a folder is used by one store at a time", (t) => {
  const { folder } = open(t);
  assert.throws(() => openSqliteStore({ folder, onFault: () => undefined, onRecovery: () => undefined }), StoreRefused);
});

test("a stopped store refuses work and can be stopped again", async (t) => {
  const { store } = open(t);
  const environment = await makeEnvironment(store);
  await store.stop();
  await store.stop();
  await assert.rejects(store.eventAppend(sampleBatch(environment, [sampleEvent()])), StoreUnavailable);
  await assert.rejects(store.eventList({ environmentId: environment.id, limit: 1 }), StoreUnavailable);
});

test("stopping waits for what was submitted", async (t) => {
  const { store, reopen } = open(t);
  const environment = await makeEnvironment(store);
  const event = sampleEvent();
  const appended = store.eventAppend(sampleBatch(environment, [event]));
  const again = await reopen();
  assert.deepEqual((await appended).ids, [event.id]);
  assert.ok(await again.eventGet({ environmentId: environment.id, id: event.id }));
});

test("a slow search does not delay an append", async (t) => {
  const folder = temporaryFolder(t);
  const mayEnd = join(folder, "search-may-end");
  const whereModule = join(folder, "slow-where.mjs");
  writeFileSync(whereModule, slowWhere(mayEnd));
  const store = openSqliteStore({ folder, whereModule: pathToFileURL(whereModule), onFault: () => undefined, onRecovery: () => undefined });
  onEnd(t, () => store.stop());
  const environment = await makeEnvironment(store);
  await store.eventAppend(sampleBatch(environment, [sampleEvent()]));
  let searching = true;
  const search = store.eventList({ environmentId: environment.id, limit: 100, where: "slow" }).finally(() => {
    searching = false;
  });
  await store.eventAppend(sampleBatch(environment, [sampleEvent()]));
  assert.ok(searching, "the append was answered while the search still ran");
  writeFileSync(mayEnd, "");
  assert.deepEqual((await search).events, []);
});

/** A search that holds its thread until the file is there, or for a minute. */
function slowWhere(file: string): string {
  return `
    import { existsSync } from "node:fs";
    const pause = new Int32Array(new SharedArrayBuffer(4));
    export function compileWhere() {
      const deadline = Date.now() + 60_000;
      while (!existsSync(${JSON.stringify(file)}) && Date.now() < deadline) Atomics.wait(pause, 0, 0, 5);
      return () => false;
    }`;
}

test("a sample of events is read by the read thread", async (t) => {
  const { store } = open(t);
  const environment = await makeEnvironment(store);
  await store.eventAppend(sampleBatch(environment, [sampleEvent({ data: '{"n":1}' }), sampleEvent({ data: '{"n":2222}' })]));
  let isRead = false;
  const reading = store.eventSample({ after: 0, limit: 100, dataLengthMax: 8 }).finally(() => {
    isRead = true;
  });
  // A message of another thread never arrives in the midst of microtasks; what this thread reads does.
  for (let n = 0; n < 100; n++) await Promise.resolve();
  assert.equal(isRead, false);
  const { events, reached, last } = await reading;
  assert.deepEqual([events.map(({ data }) => data), reached, last], [['{"n":1}'], 2, 2]);
});
