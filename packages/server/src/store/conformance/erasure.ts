import assert from "node:assert/strict";
import { test } from "node:test";
import type { Engine } from "./engine.ts";
import { advance, beginOne, detailsOf, doneStep, makeScene, sampleCall, sampleEnd } from "./run-samples.ts";

export function erasureConformance(engine: Engine): void {
  test(`${engine.name}: events are erased with what they led to, once their runs have ended`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const environmentId = scene.environment.id;
    const begun = await beginOne(scene);
    const { events } = await store.eventList({ environmentId, limit: 10 });
    const sequences = events.map(({ sequence }) => sequence);
    const untouched = events[0]?.data;
    assert.deepEqual((await store.eventErase({ environmentId, sequences })).unfinished, [begun.runNo]);
    assert.equal((await store.eventList({ environmentId, limit: 10 })).events[0]?.data, untouched, "nothing was erased");

    const call = sampleCall({ answer: '"secret"' });
    await advance(scene, begun, { steps: [doneStep("a")], call, end: sampleEnd({ output: '{"secret":1}' }) });
    assert.deepEqual(await store.eventErase({ environmentId, sequences }), { unfinished: [], calling: [] });
    await store.erasureSettle();
    const [erased] = (await store.eventList({ environmentId, limit: 10 })).events;
    assert.deepEqual([erased?.id, erased?.name, erased?.data, erased?.extras], [events[0]?.id, events[0]?.name, "{}", null]);
    const run = await detailsOf(scene, begun.run.id);
    assert.deepEqual([run.output, run.steps[0]?.value, run.calls[0]?.answer], ["null", "null", null]);
    assert.deepEqual([run.steps[0]?.id, run.status, run.calls[0]?.answerLength], ["a", "completed", call.answerLength]);
    assert.deepEqual(await store.eventErase({ environmentId, sequences }), { unfinished: [], calling: [] }, "twice does no harm");
  });
}
