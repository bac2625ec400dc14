import assert from "node:assert/strict";
import { test } from "node:test";
import type { Engine } from "../conformance/engine.ts";
import {
  advance,
  type Begun,
  beginOne,
  claimAll,
  detailsOf,
  makeScene,
  NODE,
  type Scene,
  sampleEnd,
  sampleLease,
  sampleStep,
  stepId,
} from "../conformance/run-samples.ts";
import { makeEnvironment } from "../conformance/samples.ts";
import { type ClaimedEntry, SIGNAL_TAKEN, signalEventName } from "../contract/index.ts";

interface Waiting {
  signal?: string;
  onConflict?: "fail" | "replace";
  expiresAt?: number;
  name?: string;
}

/** The run waits for a signal, and its entry is done. */
async function wait(scene: Scene, begun: Begun, { signal = "go", onConflict = "fail", expiresAt = 90_000, name = "wait" }: Waiting = {}) {
  const step = sampleStep(stepId(name), { kind: "signal", status: "waiting", until: expiresAt, detail: signal });
  const found = { eventName: signalEventName(signal), expression: null, match: null, since: 2_000 };
  const waits = [{ kind: "signal" as const, ...found, stepId: step.id, expiresAt, onConflict }];
  const entries = [{ kind: "resume" as const, stepId: step.id, dueAt: expiresAt }];
  return advance(scene, begun, { status: "waiting", steps: [step], waits, entries }, { now: 2_000 });
}

function send({ store, environment }: Scene, { signal = "go", value = "{}", now = 3_000 } = {}) {
  return store.signalSend({ environmentId: environment.id, signal, value, now, lease: sampleLease() });
}

const outcomes = (entries: readonly ClaimedEntry[]) => entries.map(({ runNo, kind, stepId: id, outcome }) => [runNo, kind, id, outcome]);

export function signalConformance(engine: Engine): void {
  test(`${engine.name}: a signal makes the entry due of the step that waits for it, with what was sent, once`, async (t) => {
    const scene = await makeScene((await engine.open(t)).store);
    const begun = await beginOne(scene);
    assert.equal((await send(scene)).runId, null, "nobody waits yet, and nothing is kept");
    await wait(scene, begun);
    assert.equal((await send(scene, { signal: "another" })).runId, null);
    const value = '{"data":{"signal":"go","data":12345678901234567890}}';
    const { runId, leased } = await send(scene, { value });
    assert.equal(runId, begun.run.id);
    assert.deepEqual(outcomes(leased), [[begun.runNo, "resume", "wait", { value }]]);
    assert.equal((await send(scene)).runId, null, "the second of them finds nobody");
    await scene.store.queueRelease({ entries: leased, now: 3_000 });
    assert.deepEqual(
      outcomes(await claimAll(scene, 4_000)),
      [[begun.runNo, "resume", "wait", { value }]],
      "whoever takes the entry is told",
    );
  });

  test(`${engine.name}: of two runs that wait for one signal the second fails`, async (t) => {
    const scene = await makeScene((await engine.open(t)).store);
    const [first, second] = [await beginOne(scene), await beginOne(scene)];
    await wait(scene, first);
    const { leased } = await wait(scene, second);
    assert.deepEqual(outcomes(leased), [[second.runNo, "resume", "wait", { fault: SIGNAL_TAKEN }]]);
    assert.equal((await send(scene)).runId, first.run.id);
  });

  test(`${engine.name}: a run may take the place of another, whose wait ends with its time`, async (t) => {
    const scene = await makeScene((await engine.open(t)).store);
    const [first, second] = [await beginOne(scene), await beginOne(scene)];
    await wait(scene, first, { expiresAt: 50_000 });
    assert.deepEqual((await wait(scene, second, { onConflict: "replace" })).leased, []);
    assert.equal((await send(scene)).runId, second.run.id);
    assert.deepEqual(
      outcomes(await claimAll(scene, 50_000, NODE, ["timers"])).filter(([runNo]) => runNo === first.runNo),
      [[first.runNo, "resume", "wait", null]],
    );
  });

  test(`${engine.name}: a wait that is over, has ended or is of another environment gets no signal, and is in nobody's way`, async (t) => {
    const scene = await makeScene((await engine.open(t)).store);
    const elsewhere = await makeEnvironment(scene.store, "staging");
    const [late, ended, next] = [await beginOne(scene), await beginOne(scene), await beginOne(scene)];
    await wait(scene, late, { expiresAt: 3_000 });
    assert.equal((await send({ ...scene, environment: elsewhere })).runId, null);
    assert.equal((await send(scene, { now: 3_000 })).runId, null, "its time is over");
    const [timeout] = await claimAll(scene, 3_000, NODE, ["timers"]);
    await advance(scene, { ...late, entry: timeout as ClaimedEntry }, { settled: [stepId("wait")] });
    await wait(scene, ended);
    await advance(scene, ended, { end: sampleEnd() }, { entry: null });
    assert.equal((await send(scene)).runId, null, "its run has ended");
    assert.deepEqual((await wait(scene, next)).leased, [], "nobody waits any more");
    assert.equal((await detailsOf(scene, next.run.id)).status, "waiting");
    assert.equal((await send(scene)).runId, next.run.id);
  });

  test(`${engine.name}: of many runs that want one signal at once exactly one waits for it`, async (t) => {
    const scene = await makeScene((await engine.open(t)).store);
    const runs = [];
    for (let n = 0; n < 8; n++) runs.push(await beginOne(scene));
    const outcomes = await Promise.all(runs.map((begun) => wait(scene, begun)));
    assert.equal(outcomes.filter(({ leased }) => leased.length > 0).length, 7);
    const sent = await Promise.all(Array.from({ length: 5 }, () => send(scene)));
    assert.equal(sent.filter(({ runId }) => runId !== null).length, 1, "and one signal reaches it");
  });

  test(`${engine.name}: the request of an open step is read, and none of others; an end leaves no secret of it`, async (t) => {
    const scene = await makeScene((await engine.open(t)).store);
    const begun = await beginOne(scene);
    const request = { method: "GET", url: "https://api.example/?k=secret", headers: { authorization: "secret" }, body: "\\u0000 \u0000" };
    const fetch = sampleStep("fetch", { kind: "fetch", status: "planned", detail: JSON.stringify(request) });
    const entries = [{ kind: "call" as const, stepId: fetch.id }];
    await advance(scene, begun, { steps: [fetch, sampleStep("plain", { status: "planned" })], entries });
    const read = (name: string) =>
      scene.store.stepRequest({ environmentId: scene.environment.id, runNo: begun.runNo, stepId: stepId(name) });
    assert.deepEqual(await read("fetch"), { kind: "fetch", request });
    assert.deepEqual([await read("plain"), await read("none")], [null, null]);
    await advance(scene, begun, { end: sampleEnd() }, { entry: null });
    assert.equal(await read("fetch"), null);
    const details = await detailsOf(scene, begun.run.id);
    assert.ok(!JSON.stringify(details.steps).includes("secret"), JSON.stringify(details.steps));
  });
}
