import assert from "node:assert/strict";
import { test } from "node:test";
import type { ClaimedEntry, FunctionStartChange } from "../contract/index.ts";
import type { Engine } from "./engine.ts";
import { advance, beginOne, detailsOf, doneStep, makeScene, sampleCall, sampleEnd, sampleLease } from "./run-samples.ts";
import { sampleBatch, sampleEvent } from "./samples.ts";

export function erasureConformance(engine: Engine): void {
  test(`${engine.name}: events are erased with what they led to, once their runs have ended`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const environmentId = scene.environment.id;
    const begun = await beginOne(scene);
    const { events } = await store.eventList({ environmentId, limit: 10 });
    const sequences = events.map(({ sequence }) => sequence);
    const untouched = events[0]?.data;
    const erase = () => store.eventErase({ environmentId, sequences, gatheringWithout: () => null });
    assert.deepEqual((await erase()).unfinished, [begun.runNo]);
    assert.equal((await store.eventList({ environmentId, limit: 10 })).events[0]?.data, untouched, "nothing was erased");

    const call = sampleCall({ answer: '"secret"' });
    await advance(scene, begun, { steps: [doneStep("a")], call, end: sampleEnd({ output: '{"secret":1}' }) });
    assert.deepEqual(await erase(), { unfinished: [], calling: [], deciding: 0 });
    await store.erasureSettle();
    const [erased] = (await store.eventList({ environmentId, limit: 10 })).events;
    assert.deepEqual([erased?.id, erased?.name, erased?.data, erased?.extras], [events[0]?.id, events[0]?.name, "{}", null]);
    const run = await detailsOf(scene, begun.run.id);
    assert.deepEqual([run.output, run.steps[0]?.value, run.calls[0]?.answer], ["null", "null", null]);
    assert.deepEqual([run.steps[0]?.id, run.status, run.calls[0]?.answerLength], ["a", "completed", call.answerLength]);
    assert.deepEqual(await erase(), { unfinished: [], calling: [], deciding: 0 }, "twice does no harm");
  });

  test(`${engine.name}: an erased event starts nothing any more, alone or among others`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const environmentId = scene.environment.id;
    const functionNo = scene.functions[0];
    const requested = async (name?: string) => {
      const event = sampleEvent({ ...(name && { name }), starts: [{ functionNo, dueAt: 1_000 }] });
      const { leased } = await store.eventAppend(sampleBatch(scene.environment, [event], { lease: sampleLease() }));
      return leased[0] as ClaimedEntry;
    };
    const start = (entry: ClaimedEntry, change: FunctionStartChange) =>
      store.functionStart({ environmentId, entry, functionNo, marks: [], now: 2_000, lease: sampleLease(), decide: () => change });
    const gatheringWithout = (value: string, gone: ReadonlySet<number>) => {
      const left = (JSON.parse(value) as number[]).filter((one) => !gone.has(one));
      return left.length === 0 ? null : JSON.stringify(left);
    };
    const erase = (sequence: number) => store.eventErase({ environmentId, sequences: [sequence], gatheringWithout });
    const [gathering, alone, invoked] = [await requested(), await requested(), await requested("inngest/function.invoked")];
    const sequence = alone.eventSequence as number;
    const marks = (["batch", "debounce", "singleton"] as const).map((kind) => ({ kind, key: "k", expiresAt: 9_000 }));
    const values = [`[${sequence},987654]`, `[${sequence}]`, String(sequence)];
    await start(gathering, { marks: marks.map((mark, i) => ({ ...mark, value: values[i] as string })) });

    assert.deepEqual(await erase(sequence), { unfinished: [], calling: [], deciding: 0 });
    assert.equal((await start(alone, {})).applied, false, "whoever was deciding comes too late");
    const kept = await Promise.all(marks.map(({ kind, key }) => store.markGet({ environmentId, functionNo, kind, key })));
    assert.deepEqual(kept, ["[987654]", null, String(sequence)]);

    assert.equal((await erase(invoked.eventSequence as number)).deciding, 1, "a run waits for what becomes of an invocation");
    assert.notEqual((await store.eventAt({ environmentId, sequence: invoked.eventSequence as number }))?.data, "{}");
    assert.equal((await start(invoked, {})).applied, true);
    assert.equal((await erase(invoked.eventSequence as number)).deciding, 0);
  });
}
