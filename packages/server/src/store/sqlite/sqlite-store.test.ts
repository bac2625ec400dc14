import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { storeConformance } from "../conformance/conformance.ts";
import { SAMPLE_RULES } from "../conformance/run-samples.ts";
import { makeEnvironment, sampleBatch, sampleEvent } from "../conformance/samples.ts";
import { type Store, StoreRefused, StoreUnavailable } from "../contract/index.ts";
import { openWriter } from "./database.ts";
import { openSqliteStore } from "./sqlite-store.ts";

function open(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "inlet-store-"));
  const openStore = () => openSqliteStore({ folder, rules: SAMPLE_RULES, onFault: () => undefined, onRecovery: () => undefined });
  let store: Store = openStore();
  t.after(async () => {
    await store.stop();
    rmSync(folder, { recursive: true });
  });
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
  t.after(() => db.close());
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
  const { store } = open(t);
  const environment = await makeEnvironment(store);
  for (let n = 0; n < 20; n++) {
    await store.eventAppend(
      sampleBatch(
        environment,
        Array.from({ length: 2_000 }, () => sampleEvent({ data: '{ "spaced": true }' })),
      ),
    );
  }
  let searching = true;
  const search = store.eventList({ environmentId: environment.id, limit: 100, text: "not there" }).finally(() => {
    searching = false;
  });
  await store.eventAppend(sampleBatch(environment, [sampleEvent()]));
  assert.ok(searching, "the append was answered while the search still ran");
  assert.deepEqual((await search).events, []);
});

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
