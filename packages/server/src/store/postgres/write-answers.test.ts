/** What follows from most answers takes a short way, in groups; whoever met others on it fares as well by the long one. */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { countedDatabase } from "../../../test/support/function-calls.ts";
import { whyNoPostgres } from "../../../test/support/postgres.ts";
import {
  advance,
  type Begun,
  beginOne,
  claimAll,
  detailsOf,
  doneStep,
  makeScene,
  NODE,
  SAMPLE_RULES,
  type Scene,
  sampleCall,
  sampleEnd,
  sampleLease,
  sampleStep,
} from "../conformance/run-samples.ts";
import type { RunChange, Store } from "../contract/index.ts";
import { openPostgresStore } from "./postgres-store.ts";

const skip = whyNoPostgres() ?? false;
const call = sampleCall();
const TEXT = 'a \\ " { } , NULL \u0000 ä \u{1f9c0}';
const GOES_ON = { call, entries: [{ kind: "call", stepId: null }] } as const;

interface World {
  scene: Scene;
  other: Store;
  calls(): Promise<Record<string, number>>;
}

async function open(t: TestContext): Promise<World> {
  const { url, callsBy } = await countedDatabase(t);
  const hooks = { url, rules: SAMPLE_RULES, onFault: () => undefined, onRecovery: () => undefined };
  const [store, other] = [await openPostgresStore(hooks), await openPostgresStore(hooks)];
  t.after(() => Promise.all([store.stop(), other.stop()]));
  return { scene: await makeScene(store), other, calls: () => callsBy([store, other]) };
}

async function beginSome(scene: Scene, count: number): Promise<Begun[]> {
  const begun: Begun[] = [];
  for (let n = 0; n < count; n++) begun.push(await beginOne(scene));
  return begun;
}

test("answers that come together are written together, each as it is", { skip }, async (t) => {
  const { scene, calls } = await open(t);
  const runs = await beginSome(scene, 5);
  const answered = sampleCall({ path: `/api?${TEXT}`, answer: JSON.stringify(TEXT), answerLength: 2_000_000_000, httpStatus: 206 });
  const unanswered = sampleCall({ answer: null, answerLength: 0, httpStatus: null, outcome: "error", attempt: 3 });
  const error = { name: "Error", message: TEXT, stack: TEXT };
  const changes: RunChange[] = [
    { call: answered, startedAt: 1_500, requestVersion: 2, end: sampleEnd({ output: JSON.stringify(TEXT) }) },
    { call: unanswered, end: sampleEnd({ status: "failed", output: null, error, endedAt: 9_007_199_254_740_000 }) },
    { ...GOES_ON, steps: [doneStep("a", JSON.stringify(TEXT)), doneStep("b")], startedAt: 1_500, isParallel: true },
    { ...GOES_ON, steps: [sampleStep("c", { detail: TEXT, until: 7 })], status: "running" },
    { call, entry: { retryAt: 5_000, attempt: 1 } },
  ];
  const results = await Promise.all(runs.map((run, n) => advance(scene, run, changes[n] as RunChange)));
  assert.deepEqual(
    results.map(({ applied, handed }) => [applied, handed.map(({ no }) => no)]),
    runs.map(({ entry }, n) => [true, n === 2 || n === 3 ? [entry.no] : []]),
  );
  const [first, second, third, fourth, fifth] = await Promise.all(runs.map(({ run }) => detailsOf(scene, run.id)));
  assert.deepEqual([first?.status, first?.startedAt, first?.output], ["completed", 1_500, JSON.stringify(TEXT)]);
  assert.deepEqual(first?.calls, [{ ...answered, stepsGiven: [] }]);
  assert.deepEqual([second?.status, second?.error, second?.endedAt], ["failed", error, 9_007_199_254_740_000]);
  assert.deepEqual(second?.calls, [{ ...unanswered, stepsGiven: [] }]);
  assert.deepEqual(
    third?.steps.map(({ id, value }) => [id, value]),
    [
      ["a", JSON.stringify(TEXT)],
      ["b", '{"data":"b"}'],
    ],
  );
  assert.deepEqual([fourth?.steps[0]?.detail, fourth?.steps[0]?.until, fourth?.steps[0]?.value], [TEXT, 7, null]);
  assert.deepEqual([fifth?.status, fifth?.calls.length], ["running", 1]);
  const due = await claimAll(scene, 5_000, "another", ["timers"]);
  assert.deepEqual(
    due.map(({ no, attempt }) => [no, attempt]),
    [[runs[4]?.entry.no, 1]],
  );
  // A run that goes on is known as it was left, and can be ended.
  const goneOn = runs[2] as Begun;
  assert.equal((await scene.store.runContext(goneOn))?.steps.length, 2);
  assert.equal((await advance(scene, goneOn, { call, end: sampleEnd() })).applied, true);
  const { write_answers: short } = await calls();
  assert.equal(short, 2, "one for the five, one for the last");
});

test("a run that another node ended meanwhile stays so, and its neighbours are written", { skip }, async (t) => {
  const { scene, other, calls } = await open(t);
  const runs = await beginSome(scene, 4);
  const [, cancelled, changed] = runs as [Begun, Begun, Begun, Begun];
  const there = { ...scene, store: other };
  await advance(there, cancelled, { end: sampleEnd({ status: "cancelled" }) }, { entry: null });
  await advance(there, changed, { steps: [doneStep("elsewhere")], entry: "keep" }, { entry: null });
  const results = await Promise.all(runs.map((run) => advance(scene, run, { call, steps: [doneStep("here")], end: sampleEnd() })));
  assert.deepEqual(
    results.map(({ applied }) => applied),
    [true, false, true, true],
  );
  const details = await Promise.all(runs.map(({ run }) => detailsOf(scene, run.id)));
  assert.deepEqual(
    details.map(({ status, steps }) => [status, steps.map(({ id }) => id).join()]),
    [
      ["completed", "here"],
      ["cancelled", ""],
      ["completed", "elsewhere,here"],
      ["completed", "here"],
    ],
  );
  assert.ok(((await calls()).write_units ?? 0) > 0, "the long way finds out which of them it was");
});

test("work that another node has taken over is not answered by this one, and its neighbours are", { skip }, async (t) => {
  const { scene, other } = await open(t);
  const runs = await beginSome(scene, 3);
  const [, lost] = runs as [Begun, Begun, Begun];
  const there = { ...scene, store: other };
  await scene.store.queueRelease({ entries: [lost.entry], node: NODE, now: 3_000 });
  const [taken] = await claimAll(there, 3_000, "another", ["app:1"]);
  assert.equal(taken?.no, lost.entry.no);
  const results = await Promise.all(runs.map((run) => advance(scene, run, { call, end: sampleEnd() })));
  assert.deepEqual(
    results.map(({ applied }) => applied),
    [true, false, true],
  );
  const lease = sampleLease({ node: "another" });
  assert.equal((await advance(there, lost, { call, end: sampleEnd() }, { lease })).applied, true);
});
