import assert from "node:assert/strict";
import { test } from "node:test";
import type { RunNo } from "@inlet/protocol";
import type { Engine } from "../conformance/engine.ts";
import { advance, begin, claimAll, makeScene, NO_ROOM, type Scene, sampleEnd, sampleLease, sampleRun } from "../conformance/run-samples.ts";
import type { NewRun, RunAdmitParams, RunThrottle } from "../contract/index.ts";

const GATE = { lane: "gate:a", home: "home:a" };
const OTHER_GATE = { lane: "gate:b", home: "home:b" };

function admit({ store, functions }: Scene, cap: number | null, changes: Partial<RunAdmitParams> = {}) {
  const limit = cap === null ? null : { id: "one", cap };
  return store.runAdmitMany({ functionNo: functions[0], limit, orderKey: null, throttle: null, gates: [GATE], now: 1_000, ...changes });
}

/** Runs that wait at gates, in this order. */
async function arrive(scene: Scene, changes: Partial<NewRun>[]): Promise<RunNo[]> {
  const runs = changes.map((change) => sampleRun(scene.functions[0], { lane: GATE.lane, ...change }));
  for (const run of runs) await begin(scene, [run], { lease: NO_ROOM });
  return Promise.all(runs.map(async ({ id }) => (await scene.store.runFind({ id }))?.no as RunNo));
}

async function end(scene: Scene, runNo: RunNo): Promise<void> {
  const { environment, store } = scene;
  const params = { environmentId: environment.id, runNo, entry: null, now: 2_000, lease: sampleLease() };
  assert.ok((await store.runAdvance({ ...params, decide: () => ({ end: sampleEnd() }) })).applied);
}

async function admitted(scene: Scene, lane = GATE.home): Promise<(RunNo | null)[]> {
  return (await claimAll(scene, 1_000, "another", [lane])).map(({ runNo }) => runNo);
}

function leftBy(admitted: number) {
  return { admitted, more: false, nextAt: null };
}

export function admissionConformance(engine: Engine): void {
  test(`${engine.name}: as many runs are admitted as there are slots, the most urgent first, and go on in the other lane`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const announced: string[] = [];
    const [late, first, second] = await arrive(scene, [{ rank: 3_000 }, { rank: 1_000 }, { rank: 2_000 }]);
    const stopWatching = store.queueWatch((lane) => announced.push(lane));
    assert.deepEqual(await admit(scene, 2), { admitted: 2, waiting: [GATE.lane], more: false, nextAt: null });
    stopWatching();
    assert.deepEqual(announced, [GATE.home]);
    assert.deepEqual(await admitted(scene), [first, second]);
    assert.equal((await admit(scene, 2)).admitted, 0, "there is no third slot");
    assert.deepEqual(await admit(scene, 3), { admitted: 1, waiting: [], more: false, nextAt: null });
    assert.deepEqual(await admitted(scene), [late]);
  });

  test(`${engine.name}: a slot is held until its run has ended, through sleeps and restarts, and announced then`, async (t) => {
    const { store, reopen } = await engine.open(t);
    const scene = await makeScene(store);
    const [first, second] = (await arrive(scene, [{}, {}])) as [RunNo, RunNo];
    await admit(scene, 1);
    const [entry] = await claimAll(scene, 1_000, "node-1", [GATE.home]);
    assert.ok(entry);
    const wake = { kind: "wake", stepId: null, dueAt: 90_000 } as const;
    await advance(scene, { runNo: first, entry }, { status: "sleeping", entries: [wake] });
    const again = { ...scene, store: await reopen() };
    assert.equal((await admit(again, 1)).admitted, 0);
    const freed: string[] = [];
    t.after(again.store.limitWatch((ids) => freed.push(...ids)));
    await end(again, first);
    assert.deepEqual(freed, ["one"]);
    assert.deepEqual(await admit(again, 1), { admitted: 1, waiting: [], more: false, nextAt: null });
    assert.deepEqual(await admitted(again), [second]);
  });

  test(`${engine.name}: calls that follow stand in the lane the run went on in; the timers of a run at the gate stay timers`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const [runNo] = (await arrive(scene, [{ startBy: 50_000 }])) as [RunNo];
    await admit(scene, 1);
    const [entry] = await claimAll(scene, 1_000, "node-1", [GATE.home]);
    assert.ok(entry);
    const { leased } = await advance(scene, { runNo, entry }, { entries: [{ kind: "call", stepId: null }] });
    assert.deepEqual(
      leased.map(({ lane }) => lane),
      [GATE.home],
    );
    assert.deepEqual(
      (await claimAll(scene, 50_000, "another", ["timers"])).map(({ kind }) => kind),
      ["start-by"],
    );
  });

  test(`${engine.name}: gates share the slots of one limit, in the order of all who wait`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const { lane } = OTHER_GATE;
    const [, b1] = await arrive(scene, [{ rank: 1_000 }, { rank: 2_000, lane }, { rank: 3_000 }]);
    const both = await admit(scene, 2, { gates: [GATE, OTHER_GATE] });
    assert.deepEqual(both, { admitted: 2, waiting: [GATE.lane], more: false, nextAt: null });
    assert.deepEqual(await admitted(scene, OTHER_GATE.home), [b1]);
    assert.equal((await admit(scene, 3)).admitted, 1);
  });

  test(`${engine.name}: every gate in which runs wait is listed, however many there are beyond the free slots`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const gates = Array.from({ length: 20 }, (_, at) => ({ lane: `gate:${at}`, home: `home:${at}` }));
    await arrive(
      scene,
      gates.map(({ lane }, at) => ({ lane, rank: 1_000 + at })),
    );
    const lanesFrom = (at: number) => gates.slice(at).map(({ lane }) => lane);
    const first = await admit(scene, 2, { gates });
    assert.deepEqual({ ...first, waiting: first.waiting.toSorted() }, { ...leftBy(2), waiting: lanesFrom(2).toSorted() });
    const full = await admit(scene, 2, { gates });
    assert.deepEqual({ ...full, waiting: full.waiting.toSorted() }, { ...leftBy(0), waiting: lanesFrom(2).toSorted() });
    const next = await admit(scene, 3, { gates: gates.slice(2) });
    assert.deepEqual({ ...next, waiting: next.waiting.toSorted() }, { ...leftBy(1), waiting: lanesFrom(3).toSorted() });
    assert.deepEqual(await admit(scene, 20, { gates }), { ...leftBy(17), waiting: [] });
  });

  test(`${engine.name}: every gate in which runs wait for a throttle is listed, beyond what one call admits`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const gates = Array.from({ length: 520 }, (_, at) => ({ lane: `gate:${at}`, home: `home:${at}` }));
    const runs = gates.map(({ lane }, at) => sampleRun(scene.functions[0], { lane, rank: 1_000 + at }));
    await begin(scene, runs, { lease: NO_ROOM });
    const throttle: RunThrottle = { key: "k", admit: () => ({ count: 1, remember: "", expiresAt: 90_000, nextAt: 1_500 }) };
    const { waiting, ...result } = await admit(scene, null, { gates, throttle });
    assert.deepEqual(result, { admitted: 1, more: false, nextAt: 1_500 });
    assert.equal(waiting.length, 519);
  });

  test(`${engine.name}: a run that ends at the gate needs no slot, nor does one that is due later`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const [first, second] = (await arrive(scene, [{}, {}, { dueAt: 9_000 }])) as [RunNo, RunNo];
    await end(scene, first);
    assert.deepEqual(await admit(scene, 2), { admitted: 1, waiting: [], more: false, nextAt: null });
    assert.deepEqual(await admitted(scene), [second]);
  });

  test(`${engine.name}: slots taken at the same time are not taken twice, and many are in parts`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const runs = Array.from({ length: 600 }, () => sampleRun(scene.functions[0], { lane: GATE.lane }));
    await begin(scene, runs, { lease: NO_ROOM });
    const results = await Promise.all(Array.from({ length: 4 }, () => admit(scene, 3)));
    assert.equal(
      results.reduce((sum, result) => sum + result.admitted, 0),
      3,
    );
    assert.deepEqual(await admit(scene, 1_000), { admitted: 500, waiting: [GATE.lane], more: true, nextAt: null });
    assert.deepEqual(await admit(scene, 1_000), { admitted: 97, waiting: [], more: false, nextAt: null });
  });

  test(`${engine.name}: a throttle is asked with what it remembers, and what it admits is written with that`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const asked: [string | null, number][] = [];
    const throttle: RunThrottle = {
      key: "k",
      admit(remembered, wanted) {
        asked.push([remembered, wanted]);
        return { count: Math.min(wanted, 2), remember: `${remembered ?? ""}x`, expiresAt: 90_000, nextAt: 1_500 };
      },
    };
    await arrive(scene, [{}, {}, {}]);
    assert.deepEqual(await admit(scene, null, { throttle }), { admitted: 2, waiting: [GATE.lane], more: false, nextAt: 1_500 });
    assert.deepEqual(await admit(scene, null, { throttle }), { admitted: 1, waiting: [], more: false, nextAt: null });
    assert.deepEqual(await admit(scene, null, { throttle }), { admitted: 0, waiting: [], more: false, nextAt: null });
    assert.deepEqual(asked, [
      [null, 3],
      ["x", 1],
    ]);
    const known = { environmentId: scene.environment.id, functionNo: scene.functions[0], key: "k" };
    assert.deepEqual([await store.throttleGet(known), await store.throttleGet({ ...known, key: "other" })], ["xx", null]);
  });
}
