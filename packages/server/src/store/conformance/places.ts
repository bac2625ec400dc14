import assert from "node:assert/strict";
import { test } from "node:test";
import type { RunNo } from "@inlet/protocol";
import type { NewRun, Store } from "../contract/index.ts";
import type { Engine } from "./engine.ts";
import { advance, begin, claimAll, makeScene, NO_ROOM, type Scene, sampleEnd, sampleLease, sampleRun } from "./run-samples.ts";

const GATE = { lane: "gate:a", home: "home:a" };
const OTHER_GATE = { lane: "gate:b", home: "home:b" };

function grant(store: Store, cap: number, gates = [GATE]) {
  return store.placeGrantMany({ place: "one", cap, gates, now: 1_000 });
}

/** Runs that wait at gates, in this order. */
async function arrive(scene: Scene, changes: Partial<NewRun>[]): Promise<RunNo[]> {
  const runs = changes.map((change) => sampleRun(scene.functions[0], { lane: GATE.lane, ...change }));
  for (const run of runs) await begin(scene, [run], { lease: NO_ROOM });
  return Promise.all(runs.map(async ({ id }) => (await scene.store.runFind({ id }))?.no as RunNo));
}

async function end(scene: Scene, runNo: RunNo): Promise<void> {
  const result = await scene.store.runAdvance({
    environmentId: scene.environment.id,
    runNo,
    entryNo: null,
    now: 2_000,
    lease: sampleLease(),
    decide: () => ({ end: sampleEnd() }),
  });
  assert.ok(result.applied);
}

export function placeConformance(engine: Engine): void {
  test(`${engine.name}: as many runs pass a gate as there are places, the most urgent first, and go on in the other lane`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const announced: string[] = [];
    const [late, first, second] = await arrive(scene, [{ rank: 3_000 }, { rank: 1_000 }, { rank: 2_000 }]);
    const stopWatching = store.queueWatch((lane) => announced.push(lane));
    assert.deepEqual(await grant(store, 2), { holders: [first, second], waiting: [GATE.lane], more: false });
    stopWatching();
    assert.deepEqual(announced, [GATE.home]);
    const claimed = await claimAll(scene, 1_000, "another", [GATE.home]);
    assert.deepEqual(
      claimed.map(({ runNo, lane }) => [runNo, lane]),
      [first, second].map((runNo) => [runNo, GATE.home]),
    );
    assert.deepEqual((await grant(store, 2)).holders, [first, second], "there is no third place");
    assert.deepEqual(await grant(store, 3), { holders: [first, second, late], waiting: [], more: false });
  });

  test(`${engine.name}: a place is held until its run has ended, through sleeps and restarts`, async (t) => {
    const { store, reopen } = await engine.open(t);
    const scene = await makeScene(store);
    const [first, second] = (await arrive(scene, [{}, {}])) as [RunNo, RunNo];
    await grant(store, 1);
    const [entry] = await claimAll(scene, 1_000, "node-1", [GATE.home]);
    assert.ok(entry);
    const wake = { kind: "wake", stepId: null, dueAt: 90_000 } as const;
    await advance(scene, { runNo: first, entry }, { status: "sleeping", entries: [wake] });
    const again = { ...scene, store: await reopen() };
    assert.deepEqual((await grant(again.store, 1)).holders, [first]);
    await end(again, first);
    assert.deepEqual(await grant(again.store, 1), { holders: [second], waiting: [], more: false });
  });

  test(`${engine.name}: calls that follow stand in the lane the run went on in; the timers of a run at the gate stay timers`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const [runNo] = (await arrive(scene, [{ startBy: 50_000 }])) as [RunNo];
    await grant(store, 1);
    const [entry] = await claimAll(scene, 1_000, "node-1", [GATE.home]);
    assert.ok(entry);
    const { handed } = await advance(scene, { runNo, entry }, { entries: [{ kind: "call", stepId: null }] });
    assert.deepEqual(
      handed.map(({ lane }) => lane),
      [GATE.home],
    );
    assert.deepEqual(
      (await claimAll(scene, 50_000, "another", ["timers"])).map(({ kind }) => kind),
      ["start-by"],
    );
  });

  test(`${engine.name}: gates share places that have one name, in the order of all who wait`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const { lane } = OTHER_GATE;
    const [a1, b1, a2] = await arrive(scene, [{ rank: 1_000 }, { rank: 2_000, lane }, { rank: 3_000 }]);
    assert.deepEqual(await grant(store, 2, [GATE, OTHER_GATE]), { holders: [a1, b1], waiting: [GATE.lane], more: false });
    assert.deepEqual(
      (await claimAll(scene, 1_000, "another", [OTHER_GATE.home])).map(({ runNo }) => runNo),
      [b1],
    );
    assert.deepEqual((await grant(store, 3)).holders, [a1, b1, a2]);
  });

  test(`${engine.name}: a run that ends at the gate needs no place, and places of ended runs are forgotten`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const [first, second] = (await arrive(scene, [{}, {}])) as [RunNo, RunNo];
    await end(scene, first);
    assert.deepEqual(await grant(store, 1), { holders: [second], waiting: [], more: false });
    assert.equal(await store.placeForgetMany({ limit: 10 }), 0);
    await end(scene, second);
    assert.equal(await store.placeForgetMany({ limit: 10 }), 1);
    assert.equal(await store.placeForgetMany({ limit: 10 }), 0);
  });

  test(`${engine.name}: places given at the same time are not given twice, and many are given in parts`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const runs = Array.from({ length: 600 }, () => sampleRun(scene.functions[0], { lane: GATE.lane }));
    await begin(scene, runs, { lease: NO_ROOM });
    const results = await Promise.all(Array.from({ length: 4 }, () => grant(store, 3)));
    assert.deepEqual(new Set(results.flatMap(({ holders }) => holders)).size, 3);
    const part = await grant(store, 1_000);
    assert.deepEqual([part.holders.length, part.waiting, part.more], [503, [GATE.lane], true]);
    const rest = await grant(store, 1_000);
    assert.deepEqual([rest.holders.length, rest.waiting, rest.more], [600, [], false]);
  });
}
