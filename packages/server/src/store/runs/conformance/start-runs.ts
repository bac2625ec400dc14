import assert from "node:assert/strict";
import { test } from "node:test";
import type { RunNo } from "@inlet/protocol";
import type { Engine } from "../../conformance/engine.ts";
import {
  advance,
  begin,
  beginOne,
  claimAll,
  detailsOf,
  makeScene,
  NO_ROOM,
  sampleEnd,
  sampleLease,
  sampleRun,
} from "../../conformance/run-samples.ts";
import { sampleBatch, sampleEvent } from "../../conformance/samples.ts";

export function runStartConformance(engine: Engine): void {
  test(`${engine.name}: an event and its runs are there together, after the store was opened again too`, async (t) => {
    const { store, reopen } = await engine.open(t);
    const scene = await makeScene(store);
    const runs = scene.functions.map((no) => sampleRun(no));
    const event = sampleEvent({ runs });
    const { leased } = await store.eventAppend(sampleBatch(scene.environment, [event], { lease: sampleLease() }));
    assert.deepEqual(
      leased.map(({ functionNo, kind, stepId, attempt }) => [functionNo, kind, stepId, attempt]),
      scene.functions.map((no) => [no, "call", null, 0]),
    );
    const again = await reopen();
    for (const run of runs) {
      const details = await detailsOf({ ...scene, store: again }, run.id);
      assert.deepEqual(
        [details.event?.id, details.functionNo, details.status, details.createdAt],
        [event.id, run.functionNo, "running", 1_000],
      );
    }
    const context = await again.runContext({ environmentId: scene.environment.id, runNo: leased[0]?.runNo as RunNo });
    assert.deepEqual(
      context?.events.map(({ id, data }) => [id, data]),
      [[event.id, event.data]],
    );
  });

  test(`${engine.name}: a duplicate starts nothing and resumes nothing`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const [first, repeated] = [sampleRun(scene.functions[0]), sampleRun(scene.functions[0])];
    await begin(scene, [first], { event: { dedupId: "d" } });
    const { duplicates, leased } = await begin(scene, [repeated], { event: { dedupId: "d" } });
    assert.deepEqual([duplicates, leased], [1, []]);
    assert.equal(await store.runFind({ id: repeated.id }), null);
  });

  test(`${engine.name}: a batch that fails leaves no run and no entry`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const taken = sampleRun(scene.functions[0], { lane: "app:1" });
    await begin(scene, [taken]);
    const fresh = sampleRun(scene.functions[0], { lane: "fresh" });
    await assert.rejects(begin(scene, [fresh, { ...taken }]), "a run's number is ours to choose: twice is a fault");
    assert.equal(await store.runFind({ id: fresh.id }), null);
    assert.deepEqual(await claimAll(scene, 1_000, "another", ["fresh"]), []);
    assert.equal((await begin(scene, [fresh])).leased[0]?.lane, "fresh", "the lane it named first is as good as new");
  });

  test(`${engine.name}: an event kept without a lease leaves its runs in the queue`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const run = sampleRun(scene.functions[0]);
    const { leased } = await store.eventAppend(sampleBatch(scene.environment, [sampleEvent({ runs: [run] })]));
    assert.deepEqual(leased, []);
    assert.equal((await claimAll(scene, 1_000)).length, 1);
  });

  test(`${engine.name}: a run is started for an event that is there, and says what it repeats`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const before = await beginOne(scene);
    await advance(scene, before, { end: sampleEnd() });
    const { eventSequence } = await detailsOf(scene, before.run.id);
    const run = sampleRun(scene.functions[0], { originalRunId: before.run.id, cron: "* * * * *", dueAt: 3_000 });
    const { leased } = await store.runStart({ environmentId: scene.environment.id, eventSequence, run, now: 3_000, lease: sampleLease() });
    assert.equal(leased.length, 1);
    const details = await detailsOf(scene, run.id);
    assert.deepEqual([details.originalRunId, details.cron, details.createdAt], [before.run.id, "* * * * *", 3_000]);
    assert.deepEqual(details.event, (await detailsOf(scene, before.run.id)).event);
  });

  test(`${engine.name}: a run of several events is given them in order`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const sequences: number[] = [];
    for (let n = 0; n < 3; n++) {
      await store.eventAppend(sampleBatch(scene.environment, [sampleEvent({ data: `{"n":${n}}` })]));
      sequences.push(await store.eventSequence({ environmentId: scene.environment.id }));
    }
    const run = sampleRun(scene.functions[0], { eventSequences: [...sequences].reverse() });
    const { leased } = await store.runStart({
      environmentId: scene.environment.id,
      eventSequence: sequences[2] as number,
      run,
      now: 1_000,
      lease: sampleLease(),
    });
    const context = await store.runContext({ environmentId: scene.environment.id, runNo: leased[0]?.runNo as RunNo });
    assert.deepEqual(
      context?.events.map(({ data }) => data),
      ['{"n":2}', '{"n":1}', '{"n":0}'],
    );
  });

  test(`${engine.name}: a run that must begin by a time has an entry for it, which goes with the run`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const run = sampleRun(scene.functions[0], { startBy: 5_000 });
    await begin(scene, [run], { lease: NO_ROOM });
    const [late] = await claimAll(scene, 5_000, "node-1", ["timers"]);
    assert.deepEqual([late?.kind, late?.lane], ["start-by", run.lane]);
    assert.ok(late?.runNo);
    await advance(scene, { runNo: late.runNo, entry: late }, { end: sampleEnd({ status: "cancelled" }) });
    assert.deepEqual(await claimAll(scene, 9_000_000), []);
  });
}
