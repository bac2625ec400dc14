import assert from "node:assert/strict";
import { test } from "node:test";
import type { Engine } from "../../conformance/engine.ts";
import {
  advance,
  beginOne,
  detailsOf,
  doneStep,
  makeScene,
  sampleCall,
  sampleEnd,
  sampleStep,
  stepId,
} from "../../conformance/run-samples.ts";
import type { ClaimedEntry } from "../../contract/index.ts";

const LOGS = { lines: [{ at: 1_520, level: "warn", message: "a \\ b \0 é😀", stepId: stepId("quick") }], dropped: 3 } as const;
const AGAIN = { entries: [{ kind: "call", stepId: null }] } as const;

export function runCallConformance(engine: Engine): void {
  test(`${engine.name}: every call is kept with its change, and says which steps it was given`, async (t) => {
    const { store, reopen } = await engine.open(t);
    const scene = await makeScene(store);
    const [begun, other] = [await beginOne(scene), await beginOne(scene)];
    // Found in one order, done in another.
    const planned = [sampleStep("slow", { status: "planned" }), sampleStep("quick", { status: "planned" })];
    const first = sampleCall({ answer: '[{"id":"slow"}]', answerLength: 15 });
    await advance(scene, begun, { call: first, steps: planned, entry: "keep" });
    const second = sampleCall({ stepId: stepId("quick"), startedAt: 1_500, path: "/api?fnId=ship&stepId=quick", logs: LOGS });
    await advance(scene, begun, { call: second, steps: [doneStep("quick")], entry: "keep" });
    const third = sampleCall({ attempt: 1, stepsGiven: 1, httpStatus: null, outcome: "error", answer: null, answerLength: 0 });
    const { leased } = await advance(scene, begun, { call: third, steps: [doneStep("slow")], ...AGAIN });
    const last = sampleCall({ stepsGiven: 2, httpStatus: 200, endedAt: 1_700, answer: "a \\ b \0 é😀", answerLength: 9_000 });
    await advance(scene, { ...begun, entry: leased[0] as ClaimedEntry }, { call: last, end: sampleEnd() });
    await advance(scene, other, { call: sampleCall(), ...AGAIN });

    const again = { ...scene, store: await reopen() };
    const [slow, quick] = [stepId("slow"), stepId("quick")];
    assert.deepEqual((await detailsOf(again, begun.run.id)).calls, [
      { ...first, stepsGiven: [] },
      { ...second, stepsGiven: [] },
      { ...third, stepsGiven: [quick] },
      { ...last, stepsGiven: [quick, slow] },
    ]);
    assert.deepEqual((await detailsOf(again, other.run.id)).calls, [{ ...sampleCall(), stepsGiven: [] }]);
  });

  test(`${engine.name}: a call whose run has ended meanwhile changes nothing, and is kept once`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const begun = await beginOne(scene);
    await advance(scene, begun, { end: sampleEnd({ status: "cancelled" }) }, { entry: null });
    const before = await detailsOf(scene, begun.run.id);
    const call = sampleCall({ httpStatus: null, outcome: "error", answer: null, answerLength: 0 });
    const { applied } = await advance(scene, begun, { call });
    assert.equal(applied, false);
    assert.deepEqual((await detailsOf(scene, begun.run.id)).calls, []);

    const { stepId, attempt, startedAt, endedAt, httpStatus } = call;
    const failure = { stepId, attempt, startedAt, endedAt, httpStatus, error: { name: "NoResponse", message: "it hung up" } };
    const other = sampleCall({ startedAt: 1_550 });
    for (const late of [
      { call, failure },
      { call, failure },
      { call: other, failure: null },
      { call: other, failure: null },
    ])
      await store.runNoteCall({ environmentId: scene.environment.id, runNo: before.no, ...late });
    const calls = [call, other].map((kept) => ({ ...kept, stepsGiven: [] }));
    assert.deepEqual(await detailsOf(scene, begun.run.id), { ...before, attempts: [failure], failedAttempts: 1, calls });
  });
}
