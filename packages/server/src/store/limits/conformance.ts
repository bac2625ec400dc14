import assert from "node:assert/strict";
import { test } from "node:test";
import type { Engine } from "../conformance/engine.ts";
import { advance, begin, doneStep, makeScene, NO_ROOM, type Scene, sampleEnd, sampleLease, sampleRun } from "../conformance/run-samples.ts";
import type { ClaimedEntry, LimitRule } from "../contract/index.ts";

const LANE = "fn:1";

function claim({ store }: Scene, cap: number, changes: { now?: number; until?: number; lane?: string; limits?: LimitRule[] } = {}) {
  const { now = 1_000, lane = LANE, limits = [{ id: "own", cap }] } = changes;
  const lease = sampleLease({ until: changes.until ?? now + 30_000 });
  return store.queueClaimMany({ lane, limit: 10, now, lease, limits });
}

async function arrive(scene: Scene, count: number, lane = LANE): Promise<void> {
  const runs = Array.from({ length: count }, () => sampleRun(scene.functions[0], { lane }));
  await begin(scene, runs, { lease: NO_ROOM });
}

export function limitConformance(engine: Engine): void {
  test(`${engine.name}: no more entries are claimed than a limit has slots`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    await arrive(scene, 5);
    const first = await claim(scene, 2);
    assert.deepEqual([first.claimed.length, first.more, first.fullLimits], [2, true, ["own"]]);
    const none = await claim(scene, 2);
    assert.deepEqual([none.claimed.length, none.more, none.fullLimits], [0, true, ["own"]]);
    const rest = await claim(scene, 9);
    assert.deepEqual([rest.claimed.length, rest.more, rest.fullLimits], [3, false, []], "a larger limit has more of them");
  });

  test(`${engine.name}: of a limit that is named twice the lower number holds`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    await arrive(scene, 3);
    for (const caps of [
      [1, 5],
      [5, 1],
    ] as const) {
      const limits = caps.map((cap) => ({ id: `of ${caps.join()}`, cap }));
      const { claimed, fullLimits } = await claim(scene, 0, { limits });
      assert.deepEqual([claimed.length, new Set(fullLimits).size], [1, 1]);
      assert.deepEqual((await claim(scene, 0, { limits })).claimed, []);
    }
  });

  test(`${engine.name}: calls in progress take slots of a limit that is set later, and one that has to wait moves to its lane`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    await arrive(scene, 3, "app:1");
    const { claimed } = await claim(scene, 0, { lane: "app:1", limits: [] });
    const [inProgress, waiting, over] = claimed as [ClaimedEntry, ClaimedEntry, ClaimedEntry];
    await advance(scene, { runNo: over.runNo as NonNullable<ClaimedEntry["runNo"]>, entry: over }, { end: sampleEnd() });
    const limits = [{ id: "own", cap: 1 }];
    await store.queueTakeSlots({ calls: [inProgress, over].map((entry) => ({ ...entry, limits })) });
    await store.queueTakeSlots({ calls: [{ ...inProgress, limits }] });
    const announced: string[] = [];
    t.after(store.queueWatch((lane) => announced.push(lane)));
    const runNo = waiting.runNo as NonNullable<ClaimedEntry["runNo"]>;
    await store.queueMove({ ...waiting, runNo, lane: LANE, now: 1_500 });
    await store.queueMove({ ...waiting, runNo, lane: "fn:2", now: 1_500 });
    assert.deepEqual(announced, [LANE], "only whoever holds it moves it");
    assert.deepEqual((await claim(scene, 1)).fullLimits, ["own"]);
    await advance(scene, { runNo: inProgress.runNo as NonNullable<ClaimedEntry["runNo"]>, entry: inProgress }, { end: sampleEnd() });
    const [moved] = (await claim(scene, 1, { now: 2_000 })).claimed;
    assert.deepEqual([moved?.no, moved?.lane, moved?.claims], [waiting.no, LANE, 1]);
    const next = { steps: [doneStep("a")], entries: [{ kind: "call", stepId: null }] as const };
    await advance(scene, { runNo: waiting.runNo as NonNullable<ClaimedEntry["runNo"]>, entry: moved as ClaimedEntry }, next, {
      lease: NO_ROOM,
    });
    assert.equal((await claim(scene, 1, { now: 3_000 })).claimed.length, 1, "its next call waits there, too");
  });

  test(`${engine.name}: a slot is free when the call is done, tried again, let go of or put back, and that is announced`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    await arrive(scene, 8);
    const freed: string[] = [];
    t.after(store.limitWatch((ids) => freed.push(...ids)));
    const held = (await claim(scene, 6)).claimed as [ClaimedEntry, ClaimedEntry, ClaimedEntry, ClaimedEntry, ClaimedEntry, ClaimedEntry];
    const run = (entry: ClaimedEntry) => ({ runNo: entry.runNo as NonNullable<ClaimedEntry["runNo"]>, entry });
    await advance(scene, run(held[0]), { steps: [doneStep("a")], entries: [{ kind: "call", stepId: null }] }, { lease: NO_ROOM });
    await advance(scene, run(held[1]), { end: sampleEnd() });
    await advance(scene, run(held[2]), { entry: { retryAt: 50_000, attempt: 1 } });
    await store.queueReschedule({ ...held[3], dueAt: 60_000 });
    await store.queueRemove(held[4]);
    assert.deepEqual(freed, ["own", "own", "own", "own", "own"]);
    await advance(scene, run(held[5]), { steps: [doneStep("b")], entry: "keep" });
    assert.equal(freed.length, 5, "what is kept keeps its slot");
    assert.equal((await claim(scene, 6, { now: 2_000 })).claimed.length, 3);
    await store.queueRelease({ entries: [held[5]], now: 1_000 });
    assert.equal(freed.length, 6);
  });

  test(`${engine.name}: an entry takes a slot of every limit, and lanes share the slots of one`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    await arrive(scene, 3, "fn:1");
    await arrive(scene, 3, "fn:2");
    const shared = { id: "shared", cap: 3 };
    const one = await claim(scene, 0, { lane: "fn:1", limits: [{ id: "one", cap: 2 }, shared] });
    assert.deepEqual([one.claimed.length, one.fullLimits], [2, ["one"]]);
    const two = await claim(scene, 0, { lane: "fn:2", limits: [{ id: "two", cap: 2 }, shared] });
    assert.deepEqual([two.claimed.length, two.fullLimits], [1, ["shared"]]);
  });

  test(`${engine.name}: a lease that is over holds no slot; taken over, the entry takes one again`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    await arrive(scene, 3);
    assert.equal((await claim(scene, 2, { until: 5_000 })).claimed.length, 2);
    const later = await claim(scene, 2, { now: 5_000 });
    assert.deepEqual([later.claimed.length, later.fullLimits], [2, ["own"]]);
    assert.equal((await claim(scene, 2, { now: 5_000 })).claimed.length, 0);
  });

  test(`${engine.name}: what a node held before it died holds no slot`, async (t) => {
    const { store, reopen } = await engine.open(t);
    const scene = await makeScene(store);
    await arrive(scene, 3);
    const [held] = (await claim(scene, 1)).claimed;
    const again = { ...scene, store: await reopen() };
    await again.store.queueRecover({ node: sampleLease().node, now: 1_000 });
    const [taken] = (await claim(again, 1)).claimed;
    assert.deepEqual([taken?.no, taken?.claims], [held?.no, 2]);
  });

  test(`${engine.name}: a call that goes on although its run has ended keeps its slot until it is removed`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    await arrive(scene, 2);
    const [held] = (await claim(scene, 1)).claimed;
    assert.ok(held?.runNo);
    await advance(scene, { runNo: held.runNo, entry: held }, { end: sampleEnd({ status: "cancelled" }) }, { entry: null });
    assert.deepEqual((await claim(scene, 1)).claimed, []);
    await store.queueRemove(held);
    const [next, ...others] = (await claim(scene, 1)).claimed;
    assert.notEqual(next?.runNo, held.runNo);
    assert.deepEqual(others, []);
  });

  test(`${engine.name}: claims at the same time exceed no limit`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    await arrive(scene, 20);
    const claims = await Promise.all(Array.from({ length: 8 }, () => claim(scene, 3)));
    assert.equal(claims.flatMap(({ claimed }) => claimed).length, 3);
  });
}
