import assert from "node:assert/strict";
import { test } from "node:test";
import type { AppId, FunctionNo, KeyId } from "@inlet/protocol";
import type { Engine } from "../conformance/engine.ts";
import { claimAll, makeScene, type Scene, sampleLease, sampleSync } from "../conformance/run-samples.ts";
import { makeEnvironment } from "../conformance/samples.ts";
import type { ClaimedEntry } from "../contract/index.ts";

function cron(name: string, ...crons: { cron: string; dueAt: number }[]) {
  return { id: `shop-${name}`, name, config: "{}", crons };
}

/** Schedules that are due at a time far ahead, with their times. */
async function schedules(scene: Scene): Promise<[string | null, number][]> {
  const entries = (await claimAll(scene, 1_000_000)).filter(({ kind }) => kind === "cron");
  return entries.map(({ subject, rank }): [string | null, number] => [subject, rank]).sort();
}

export function appConformance(engine: Engine): void {
  test(`${engine.name}: an app and its functions are read back as they were synced`, async (t) => {
    const { store } = await engine.open(t);
    const environment = await makeEnvironment(store);
    const params = sampleSync(environment, {
      framework: "express",
      signingKeyId: "key_1" as KeyId,
      functions: [{ id: "shop-ship", name: "Ship", config: '{"a":1}', crons: [] }],
    });
    const { app, modified } = await store.appSync(params);
    const { functions: _functions, syncedAt, ...fields } = params;
    assert.ok(modified);
    assert.deepEqual(app, { ...fields, no: app.no, createdAt: syncedAt, syncedAt, error: null, removedAt: null });
    assert.deepEqual(await store.appList(), [app]);
    const [known] = await store.functionList();
    const times = { createdAt: 1_000, updatedAt: 1_000, archivedAt: null, pausedAt: null, limits: null };
    assert.deepEqual(known, {
      no: known?.no,
      environmentId: environment.id,
      appNo: app.no,
      id: "shop-ship",
      name: "Ship",
      config: '{"a":1}',
      ...times,
    });
  });

  test(`${engine.name}: an unchanged sync is no change, and clears a fault`, async (t) => {
    const { store } = await engine.open(t);
    const environment = await makeEnvironment(store);
    const params = sampleSync(environment);
    const first = await store.appSync(params);
    await store.appFault({ environmentId: environment.id, url: params.url, error: "it hung" });
    assert.equal((await store.appList())[0]?.error, "it hung");
    const functions = await store.functionList();
    const again = await store.appSync({ ...params, id: "app_2" as AppId, syncedAt: 2_000, signingKeyId: "key_2" as KeyId });
    assert.equal(again.modified, false);
    assert.deepEqual(again.app, { ...first.app, syncedAt: 2_000, signingKeyId: "key_2" }, "with another key");
    assert.deepEqual(await store.functionList(), functions);
  });

  test(`${engine.name}: functions missing from a sync are archived, and come back under their number`, async (t) => {
    const { store } = await engine.open(t);
    const environment = await makeEnvironment(store);
    const params = sampleSync(environment);
    await store.appSync(params);
    const before = await store.functionList();
    await store.appSync({ ...params, checksum: "two", functions: params.functions.slice(0, 1), syncedAt: 2_000 });
    const archived = await store.functionList();
    assert.deepEqual(
      archived.map(({ archivedAt }) => archivedAt),
      [null, 2_000],
    );
    await store.appSync({ ...params, checksum: "three", syncedAt: 3_000 });
    const after = await store.functionList();
    assert.deepEqual(
      after.map(({ no, archivedAt }) => [no, archivedAt]),
      before.map(({ no }) => [no, null]),
    );
  });

  test(`${engine.name}: limits of a function stay over syncs and restarts, until they are taken back`, async (t) => {
    const { store, reopen } = await engine.open(t);
    const environment = await makeEnvironment(store);
    const params = sampleSync(environment);
    await store.appSync(params);
    const [first] = await store.functionList();
    const key = { environmentId: environment.id, functionNo: first?.no as FunctionNo };
    const throttle = { limit: 5, period: "1m" };
    const limits = { concurrency: 2, throttle, rateLimit: null, changedAt: 7, changedBy: "Ada \\ \0" };
    await store.functionLimit({ ...key, limits });
    await store.appSync({ ...params, checksum: "two", syncedAt: 2_000 });
    const again = await reopen();
    assert.deepEqual(
      (await again.functionList()).map((one) => one.limits),
      [limits, null],
    );
    await again.functionLimit({ ...key, limits: null });
    assert.deepEqual((await again.functionList())[0]?.limits, null);
  });

  test(`${engine.name}: an app that was removed keeps its rows, starts nothing, and comes back with a sync`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const { environment } = scene;
    const other = await makeEnvironment(store, "staging");
    const remove = (where: typeof environment, removedAt: number) =>
      store.appRemove({ environmentId: where.id, id: "app_1" as AppId, removedAt });
    assert.equal(await remove(other, 2_000), null, "another environment's app");
    assert.equal((await remove(environment, 2_000))?.removedAt, 2_000);
    assert.equal(await remove(environment, 3_000), null, "it is gone already");
    assert.deepEqual(
      (await store.functionList()).map(({ archivedAt }) => archivedAt),
      [2_000, 2_000],
    );
    const { modified, app } = await store.appSync(sampleSync(environment, { syncedAt: 4_000 }));
    assert.deepEqual([modified, app.removedAt], [true, null], "the same checksum, but the app was gone");
    assert.deepEqual(
      (await store.functionList()).map(({ archivedAt }) => archivedAt),
      [null, null],
    );
  });

  test(`${engine.name}: the same app in two environments is two apps`, async (t) => {
    const { store } = await engine.open(t);
    const [here, there] = [await makeEnvironment(store), await makeEnvironment(store, "staging")];
    await store.appSync(sampleSync(here));
    await store.appSync(sampleSync(there, { id: "app_2" as AppId }));
    assert.deepEqual(
      (await store.appList()).map(({ environmentId }) => environmentId),
      [here.id, there.id],
    );
    assert.equal((await store.functionList()).length, 4);
  });

  test(`${engine.name}: schedules are replaced by a sync, and one that stays keeps the tick that is due`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const sync = (checksum: string, ...functions: ReturnType<typeof cron>[]) =>
      store.appSync(sampleSync(scene.environment, { checksum, functions, syncedAt: 5_000 }));
    await sync(
      "a",
      cron("ship", { cron: "* * * * *", dueAt: 4_000 }, { cron: "0 * * * *", dueAt: 9_000 }),
      cron("bill", { cron: "0 0 * * *", dueAt: 8_000 }),
    );
    await sync("b", cron("ship", { cron: "* * * * *", dueAt: 60_000 }, { cron: "5 * * * *", dueAt: 70_000 }));
    assert.deepEqual(await schedules(scene), [
      ["* * * * *", 4_000],
      ["5 * * * *", 70_000],
    ]);
    await store.appRemove({ environmentId: scene.environment.id, id: "app_1" as AppId, removedAt: 6_000 });
    assert.equal(await store.queueNextDue(), null, "a removed app has no schedules");
  });

  test(`${engine.name}: a function that moves to another app keeps its schedule, and a tick that a node works on stays with the node`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const sync = (id: string, dueAt: number) => {
      const functions = [cron("ship", { cron: "* * * * *", dueAt })];
      return store.appSync(sampleSync(scene.environment, { id: id as AppId, name: id, checksum: id, functions, syncedAt: 5_000 }));
    };
    await sync("one", 4_000);
    const [entry] = (await claimAll(scene, 5_000, "node-1")) as [ClaimedEntry];
    await sync("two", 60_000);
    assert.deepEqual(await claimAll(scene, 5_001), [], "it is leased");
    const { environmentId, functionNo } = entry;
    const tick = { environmentId, entry, functionNo, marks: [], now: 5_000, lease: sampleLease() };
    assert.equal((await store.functionStart({ ...tick, decide: () => ({ againAt: 50_000 }) })).applied, true);
    assert.deepEqual(await schedules(scene), [["* * * * *", 50_000]]);
  });

  test(`${engine.name}: a schedule's tick and its next time are one change, made once`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    await store.appSync(sampleSync(scene.environment, { checksum: "a", functions: [cron("ship", { cron: "* * * * *", dueAt: 4_000 })] }));
    const [entry] = await claimAll(scene, 5_000, "node-1");
    assert.equal(entry?.rank, 4_000, "the time it was due");
    const { environmentId, functionNo } = entry;
    const tick = { environmentId, entry, functionNo, marks: [], now: 5_000, lease: sampleLease() };
    assert.equal((await store.functionStart({ ...tick, decide: () => ({ againAt: 60_000 }) })).applied, true);
    assert.equal((await store.functionStart({ ...tick, decide: () => ({ againAt: 90_000 }) })).applied, false, "it is held no more");
    assert.equal(await store.queueNextDue(), 60_000);
  });
}
