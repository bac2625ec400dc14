import assert from "node:assert/strict";
import { test } from "node:test";
import type { RunNo } from "@inlet/protocol";
import type { Engine } from "../conformance/engine.ts";
import { begin, claimAll, makeScene, NO_ROOM, type Scene, sampleEnd, sampleLease, sampleRun } from "../conformance/run-samples.ts";
import { makeEnvironment } from "../conformance/samples.ts";
import { type NewRun, orderId, type RunChange } from "../contract/index.ts";

const GATE = { lane: "order:a", home: "home:a" };
const KEY = "hash of c_1";
const TEXT = '"c_1"';
const FAILED: RunChange = { end: sampleEnd({ status: "failed" }), holdsOrder: true };

async function arrive(scene: Scene, changes: Partial<NewRun>[] = [{}]): Promise<RunNo[]> {
  const runs = changes.map((change) => sampleRun(scene.functions[0], { lane: GATE.lane, order: { key: KEY, text: TEXT }, ...change }));
  await begin(scene, runs, { lease: NO_ROOM });
  return Promise.all(runs.map(async ({ id }) => (await scene.store.runFind({ id }))?.no as RunNo));
}

/** The runs that are let in now. */
async function admit({ store, functions, ...scene }: Scene, changes: { orderKey?: string; now?: number } = {}): Promise<(RunNo | null)[]> {
  const { orderKey = KEY, now = 1_000 } = changes;
  await store.runAdmitMany({ functionNo: functions[0], limit: null, orderKey, throttle: null, gates: [GATE], now });
  return (await claimAll({ store, functions, ...scene }, now, "another", [GATE.home])).map(({ runNo }) => runNo);
}

async function end({ store, environment }: Scene, runNo: RunNo, change: RunChange = { end: sampleEnd() }): Promise<void> {
  const params = { environmentId: environment.id, runNo, entry: null, now: 2_000, lease: sampleLease() };
  assert.ok((await store.runAdvance({ ...params, decide: () => change })).applied);
}

/** Removes the calls of a run that ended while they were under way. */
async function endCalls({ store, environment }: Scene, now = 90_000): Promise<void> {
  const lease = sampleLease({ until: now + 30_000 });
  const { claimed } = await store.queueClaimMany({ lane: GATE.home, limit: 10, now, lease, limits: [] });
  for (const { no, leaseId } of claimed) await store.queueRemove({ environmentId: environment.id, no, leaseId });
}

async function holdsOf({ store, environment }: Scene) {
  return (await store.orderHoldList({ environmentId: environment.id, limit: 10 })).holds;
}

export function orderConformance(engine: Engine): void {
  const open = async (t: Parameters<Engine["open"]>[0]) => makeScene((await engine.open(t)).store);

  test(`${engine.name}: runs of a key are admitted in the order they were accepted, whatever their rank, one at a time`, async (t) => {
    const scene = await open(t);
    const [first, second, third] = (await arrive(scene, [{ rank: 3_000 }, { rank: 1_000 }, { rank: 2_000 }])) as [RunNo, RunNo, RunNo];
    const [other] = await arrive(scene, [{ order: { key: "hash of c_2", text: '"c_2"' } }]);
    assert.deepEqual(await admit(scene), [first]);
    assert.deepEqual(await admit(scene), [], "one at a time");
    assert.deepEqual(await admit(scene, { orderKey: "hash of c_2" }), [other], "other keys go on");
    await end(scene, first);
    assert.deepEqual(await admit(scene), [], "a call of the first is still under way");
    await endCalls(scene);
    assert.deepEqual(await admit(scene), [second]);
    await end(scene, third);
    await end(scene, second);
    await endCalls(scene, 130_000);
    assert.deepEqual(await admit(scene), [], "the third ended before its turn");
  });

  test(`${engine.name}: runs of a key on hold wait in the queue, and have no part in its age until it is released`, async (t) => {
    const scene = await open(t);
    const { store, environment } = scene;
    const [first] = (await arrive(scene, [{}, {}, {}])) as [RunNo];
    assert.deepEqual(await admit(scene), [first]);
    const ages = async () =>
      [...(await store.queueDepths()), ...(await store.queueFunctionDepths())].map(({ oldestDueAt }) => oldestDueAt !== null);
    assert.deepEqual(await ages(), [true, true], "they wait for the first");
    await end(scene, first, FAILED);
    await endCalls(scene);
    assert.deepEqual(await ages(), [false, false]);
    assert.deepEqual(
      (await store.queueDepths()).map(({ waiting }) => waiting),
      [2],
    );
    assert.ok(await store.orderRelease({ environmentId: environment.id, runNo: first }));
    assert.deepEqual(await ages(), [true, true]);
  });

  test(`${engine.name}: a run that is due later is not overtaken, and one that is cancelled is`, async (t) => {
    const scene = await open(t);
    const [late, second] = (await arrive(scene, [{ dueAt: 50_000 }, {}])) as [RunNo, RunNo];
    assert.deepEqual(await admit(scene), []);
    await end(scene, late);
    assert.deepEqual(await admit(scene), [second]);
  });

  test(`${engine.name}: nodes that admit at the same time admit one run, and it is announced when the next may go on`, async (t) => {
    const { store, reopen } = await engine.open(t);
    const scene = await makeScene(store);
    const [first, second] = (await arrive(scene, [{}, {}])) as [RunNo, RunNo];
    const params = { functionNo: scene.functions[0], limit: null, orderKey: KEY, throttle: null, gates: [GATE], now: 1_000 };
    const results = await Promise.all(Array.from({ length: 4 }, () => store.runAdmitMany(params)));
    assert.equal(
      results.reduce((sum, { admitted }) => sum + admitted, 0),
      1,
    );
    assert.ok(results.every(({ waiting }) => waiting.includes(GATE.lane)));
    const again = { ...scene, store: await reopen() };
    assert.equal((await again.store.runAdmitMany(params)).admitted, 0, "after a restart too");
    const freed: string[] = [];
    t.after(again.store.limitWatch((ids) => freed.push(...ids)));
    await end(again, first);
    assert.deepEqual(freed, [orderId(scene.functions[0], KEY)]);
    assert.deepEqual(await admit(again), [second]);
  });

  test(`${engine.name}: a failed run may hold up its key until it is released`, async (t) => {
    const scene = await open(t);
    const [first, second] = (await arrive(scene, [{}, {}])) as [RunNo, RunNo];
    await admit(scene);
    await end(scene, first, FAILED);
    await endCalls(scene);
    assert.deepEqual(await admit(scene), []);
    const [hold] = await holdsOf(scene);
    const { id } = (await scene.store.runSummaries({ environmentId: scene.environment.id, runNos: [first] }))[0] ?? { id: null };
    const position = hold?.position ?? 0;
    assert.deepEqual(hold, { position, functionNo: scene.functions[0], key: TEXT, runId: id, heldAt: 2_000, waiting: 1 });
    const environmentId = scene.environment.id;
    assert.equal(await scene.store.orderRelease({ environmentId, runNo: second }), false, "which holds up none");
    assert.equal(await scene.store.orderRelease({ environmentId, runNo: first }), true);
    assert.deepEqual(await holdsOf(scene), []);
    assert.deepEqual(await admit(scene), [second]);
  });

  test(`${engine.name}: a hold is released by its position, once, in its environment, also when retention has removed its run`, async (t) => {
    const scene = await open(t);
    const { store, environment } = scene;
    const [first, second] = (await arrive(scene, [{}, {}])) as [RunNo, RunNo];
    await admit(scene);
    await end(scene, first, FAILED);
    await endCalls(scene);
    await store.runExpireMany({ environmentId: environment.id, until: 3_000, limit: 100, after: null });
    assert.deepEqual(await store.runSummaries({ environmentId: environment.id, runNos: [first] }), [], "the run is gone");
    const [hold] = await holdsOf(scene);
    assert.deepEqual([hold?.runId, hold?.key, hold?.waiting], [null, null, 1]);
    const position = hold?.position ?? 0;
    const other = await makeEnvironment(store, "staging");
    for (const wrong of [
      { environmentId: other.id, position },
      { environmentId: environment.id, position: position + 1 },
    ]) {
      assert.equal(await store.orderHoldRelease(wrong), null);
    }
    assert.deepEqual(await admit(scene), []);
    const freed: string[] = [];
    t.after(store.limitWatch((ids) => freed.push(...ids)));
    assert.deepEqual(await store.orderHoldRelease({ environmentId: environment.id, position }), hold);
    assert.deepEqual(freed, [orderId(scene.functions[0], KEY)], "the key is announced");
    assert.equal(await store.orderHoldRelease({ environmentId: environment.id, position }), null, "it is on hold no more");
    assert.deepEqual(await holdsOf(scene), []);
    assert.deepEqual(await admit(scene), [second]);
  });

  test(`${engine.name}: a rerun takes the position of the run that holds up the key, before those that wait`, async (t) => {
    const scene = await open(t);
    const [first, second] = (await arrive(scene, [{}, {}])) as [RunNo, RunNo];
    await admit(scene);
    await end(scene, first, FAILED);
    await endCalls(scene);
    const [again] = (await arrive(scene, [{ inPlaceOf: first }])) as [RunNo];
    assert.deepEqual(await holdsOf(scene), []);
    assert.deepEqual(await admit(scene), [again]);
    await end(scene, again, FAILED);
    await endCalls(scene, 130_000);
    assert.deepEqual(await admit(scene), [], "it failed again");
    const [last] = (await arrive(scene, [{ inPlaceOf: first }])) as [RunNo];
    assert.deepEqual(await admit(scene), [], "a rerun of a run that holds up nothing goes to the end");
    await scene.store.orderRelease({ environmentId: scene.environment.id, runNo: again });
    assert.deepEqual(await admit(scene), [second]);
    await end(scene, second);
    await endCalls(scene, 170_000);
    assert.deepEqual(await admit(scene), [last]);
  });

  test(`${engine.name}: a rerun of a run that holds up the key waits until no call of that is under way`, async (t) => {
    const scene = await open(t);
    const [first, second] = (await arrive(scene, [{}, {}])) as [RunNo, RunNo];
    await admit(scene);
    await end(scene, first, FAILED);
    const [again] = (await arrive(scene, [{ inPlaceOf: first }])) as [RunNo];
    assert.deepEqual(await holdsOf(scene), []);
    assert.deepEqual(await admit(scene), [], "a call of the first is still under way");
    const freed: string[] = [];
    t.after(scene.store.limitWatch((ids) => freed.push(...ids)));
    await endCalls(scene);
    assert.deepEqual(freed, [orderId(scene.functions[0], KEY)], "the key is announced");
    assert.deepEqual(await admit(scene), [again]);
    await end(scene, again);
    await endCalls(scene, 130_000);
    assert.deepEqual(await admit(scene), [second]);
  });

  test(`${engine.name}: holds are listed in pages and by function`, async (t) => {
    const scene = await open(t);
    const { store, environment, functions } = scene;
    const keys = ["a", "b", "c"];
    const runNos = await arrive(
      scene,
      keys.map((key) => ({ order: { key, text: key.toUpperCase() } })),
    );
    for (const [index, orderKey] of keys.entries()) {
      await admit(scene, { orderKey });
      await end(scene, runNos[index] as RunNo, FAILED);
    }
    const listed = async (after?: number) =>
      store.orderHoldList({ environmentId: environment.id, limit: 2, ...(after !== undefined && { after }) });
    const page = await listed();
    const rest = await listed(page.next ?? 0);
    assert.deepEqual(
      [...page.holds, ...rest.holds].map(({ key }) => key),
      ["A", "B", "C"],
    );
    assert.equal(rest.next, null);
    const ofOther = await store.orderHoldList({ environmentId: environment.id, limit: 2, functionNos: [functions[1]] });
    assert.deepEqual(ofOther, { holds: [], next: null });
  });
}
