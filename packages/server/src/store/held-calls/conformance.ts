import assert from "node:assert/strict";
import { test } from "node:test";
import type { FunctionNo, RunNo } from "@inlet/protocol";
import type { Engine } from "../conformance/engine.ts";
import {
  advance,
  begin,
  beginOne,
  claimAll,
  detailsOf,
  makeScene,
  type Scene,
  sampleEnd,
  sampleRun,
  sampleSync,
} from "../conformance/run-samples.ts";
import { HELD_UNTIL } from "../contract/index.ts";

export function heldCallConformance(engine: Engine): void {
  test(`${engine.name}: calls of a paused function are held, counted, and due when it goes on`, async (t) => {
    const { store, reopen } = await engine.open(t);
    const scene = await makeScene(store);
    const environmentId = scene.environment.id;
    const [functionNo] = scene.functions;
    const { entry, runNo } = await beginOne(scene);
    await pause(scene, functionNo, 5);
    await pause(scene, functionNo, 6);
    await store.queueHold({ ...entry, runNo, functionNo, now: 2_000 });
    await begin(scene, [sampleRun(functionNo, { dueAt: HELD_UNTIL })]);
    assert.deepEqual(await store.queueHeld({ environmentId }), [{ functionNo, runs: 2 }]);
    assert.equal((await store.queueHeldRuns({ environmentId, functionNo, limit: 1 })).length, 1);
    assert.deepEqual(await claimAll(scene, 9_000_000), [], "they are due never");
    assert.equal(await store.queueUnhold({ now: 3_000, limit: 10 }), 0, "the function is paused");
    await store.appSync(sampleSync(scene.environment, { checksum: "two" }));
    const there = { ...scene, store: await reopen() };
    assert.equal((await there.store.functionList()).find(({ no }) => no === functionNo)?.pausedAt, 5, "over syncs and restarts");
    await pause(there, functionNo, null);
    assert.equal(await there.store.queueUnhold({ now: 3_000, limit: 1 }), 1);
    assert.equal(await there.store.queueUnhold({ now: 3_000, limit: 10 }), 1);
    assert.deepEqual(await there.store.queueHeld({ environmentId }), []);
    assert.equal((await claimAll(there, 3_000)).length, 2);
  });

  test(`${engine.name}: calls in an archived environment are held until it is unarchived`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const { id } = scene.environment;
    const { entry, runNo } = await beginOne(scene);
    await store.environmentUpdate({ id, archivedAt: 5 });
    await store.queueHold({ ...entry, runNo, functionNo: scene.functions[0], now: 2_000 });
    assert.equal((await store.queueHeld({ environmentId: id })).length, 1);
    assert.equal(await store.queueUnhold({ now: 3_000, limit: 10 }), 0);
    await store.environmentUpdate({ id, archivedAt: null });
    assert.equal(await store.queueUnhold({ now: 3_000, limit: 10 }), 1);
    assert.equal((await claimAll(scene, 3_000)).length, 1);
  });

  test(`${engine.name}: a run whose first call is held is queued again, and runs once it is claimed; one that has begun goes on running`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const [functionNo] = scene.functions;
    const fresh = await beginOne(scene);
    const begun = await beginOne(scene);
    await advance(scene, begun, { startedAt: 1_000, entry: { retryAt: 2_500, attempt: 1 } });
    const statusOf = async ({ run }: typeof fresh) => (await detailsOf(scene, run.id)).status;
    const statuses = async () => [await statusOf(fresh), await statusOf(begun)];
    const retried = await claimAll(scene, 2_500);
    await pause(scene, functionNo, 5);
    for (const entry of [fresh.entry, ...retried]) await store.queueHold({ ...entry, runNo: entry.runNo as RunNo, functionNo, now: 2_600 });
    assert.deepEqual(await statuses(), ["queued", "running"]);
    await pause(scene, functionNo, null);
    await store.queueUnhold({ now: 3_000, limit: 10 });
    assert.equal((await claimAll(scene, 3_000)).length, 2);
    assert.deepEqual(await statuses(), ["running", "running"]);
  });

  test(`${engine.name}: a run whose first call is moved to a limited lane is queued again`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const { entry, runNo, run } = await beginOne(scene);
    assert.equal((await detailsOf(scene, run.id)).status, "running");
    await store.queueMove({ ...entry, runNo, lane: "fn:1", now: 2_000 });
    assert.equal((await detailsOf(scene, run.id)).status, "queued");
  });

  test(`${engine.name}: runs of a paused function that wait go on when its app is removed, to end as the others do`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const [functionNo, unregistered] = scene.functions;
    const calls = [await beginOne(scene), await beginOne(scene, { functionNo: unregistered })];
    for (const no of scene.functions) await pause(scene, no, 5);
    for (const { entry, runNo, run } of calls) await store.queueHold({ ...entry, runNo, functionNo: run.functionNo, now: 2_000 });
    const sync = sampleSync(scene.environment);
    await store.appSync({ ...sync, checksum: "two", functions: sync.functions.slice(0, 1) });
    assert.equal(await store.queueUnhold({ now: 3_000, limit: 10 }), 0, "both are paused, whether they are registered or not");
    await store.appRemove({ environmentId: scene.environment.id, id: sync.id, removedAt: 2_500 });
    assert.equal(await store.queueUnhold({ now: 3_000, limit: 10 }), 2);
    assert.equal((await claimAll(scene, 3_000)).length, 2);
    const pausedAt = async () => (await store.functionList()).find(({ no }) => no === functionNo)?.pausedAt;
    assert.equal(await pausedAt(), null);
    await pause(scene, functionNo, 6);
    assert.equal(await pausedAt(), null, "by a node that has not read of the removal");
  });

  test(`${engine.name}: a call that is held although its function goes on is due at once`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const { entry, runNo } = await beginOne(scene);
    await store.queueHold({ ...entry, runNo, functionNo: scene.functions[0], now: 2_000 });
    assert.equal((await claimAll(scene, 2_000)).length, 1);
  });

  test(`${engine.name}: the call of a run that has ended is not held: whoever claims it removes it`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const environmentId = scene.environment.id;
    const [functionNo] = scene.functions;
    const begun = await beginOne(scene);
    await pause(scene, functionNo, 5);
    await advance(scene, begun, { end: sampleEnd({ status: "cancelled" }) }, { entry: null });
    await store.queueHold({ ...begun.entry, runNo: begun.runNo, functionNo, now: 2_000 });
    assert.deepEqual(await store.queueHeld({ environmentId }), []);
    assert.deepEqual(await store.queueHeldRuns({ environmentId, functionNo, limit: 10 }), []);
    assert.deepEqual(
      (await claimAll(scene, 2_000)).map(({ runNo }) => runNo),
      [begun.runNo],
    );
  });

  test(`${engine.name}: a run that is created as held although its function goes on is due at once`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const [functionNo, other] = scene.functions;
    await pause(scene, other, 5);
    await begin(scene, [sampleRun(functionNo, { dueAt: HELD_UNTIL }), sampleRun(other, { dueAt: HELD_UNTIL })]);
    assert.deepEqual(
      (await claimAll(scene, 2_000)).map((entry) => entry.functionNo),
      [functionNo],
    );
    assert.deepEqual(await store.queueHeld({ environmentId: scene.environment.id }), [{ functionNo: other, runs: 1 }]);
  });

  test(`${engine.name}: an event is matched by a run it starts, at once or later`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const environmentId = scene.environment.id;
    const { run } = await beginOne(scene);
    await begin(scene, []);
    const list = async (matched: boolean) => (await store.eventList({ environmentId, limit: 10, matched })).events;
    assert.deepEqual([(await list(true)).length, (await list(false)).length], [1, 1]);
    assert.equal((await list(true))[0]?.id, (await detailsOf(scene, run.id)).event?.id);
    const eventSequence = (await list(false))[0]?.sequence as number;
    await store.runStart({ environmentId, eventSequence, run: sampleRun(scene.functions[0]), now: 1_000, lease: NOBODY });
    assert.deepEqual([(await list(true)).length, (await list(false)).length], [2, 0]);
  });

  test(`${engine.name}: failed runs are grouped by function and error, and found by a piece of it`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const environmentId = scene.environment.id;
    for (const [endedAt, message] of [
      [10, "no"],
      [20, "no"],
      [30, "Other"],
      [40, "order ord_17 is late"],
      [50, "order ord_18 is late"],
    ] as const) {
      await advance(scene, await beginOne(scene), {
        end: sampleEnd({ status: "failed", endedAt, error: { name: "E", message, stack: "s" } }),
      });
    }
    const groups = await store.runFailures({ environmentId, limit: 10, from: 0, until: 48, functionNos: [scene.functions[0]] });
    assert.deepEqual(
      groups.map(({ name, message, count, firstAt, lastAt, runIds }) => [name, message, count, firstAt, lastAt, runIds.length]),
      [
        ["E", "order ord_18 is late", 2, 40, 50, 2],
        ["E", "no", 2, 10, 20, 2],
        ["E", "Other", 1, 30, 30, 1],
      ],
    );
    assert.equal((await store.runFailures({ environmentId, limit: 10, from: 0, to: 1, until: 48 })).length, 0);
    for (const { pattern, count, runIds } of groups) {
      const alike = await store.runList({ environmentId, limit: 10, errorPattern: pattern });
      assert.deepEqual([alike.runs.map(({ id }) => id), alike.next, alike.runs.length], [runIds, null, count]);
    }
    assert.equal((await store.runList({ environmentId, limit: 10, errorPattern: "E: n" })).runs.length, 0);
    const { runs, next } = await store.runList({ environmentId, limit: 10, errorText: "e: OTH" });
    assert.deepEqual([runs.map(({ error }) => error?.message), next], [["Other"], null]);
    const page = await store.runList({ environmentId, limit: 1, errorText: "no" });
    assert.equal((await store.runList({ environmentId, limit: 1, errorText: "no", after: page.next as never })).runs.length, 1);
  });
}

const NOBODY = { node: "nobody", until: 0, newId: () => "none" as never, roomIn: () => 0 };

function pause({ store, environment }: Scene, functionNo: FunctionNo, pausedAt: number | null): Promise<void> {
  return store.functionPause({ environmentId: environment.id, functionNo, pausedAt });
}
