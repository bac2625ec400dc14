/**
 * What is rare in a store is copied too: steps whose names and details hold every kind of character, entries that a node holds, runs
 * that wait at a gate and runs that hold a place. What the embedded store says of them before, the shared one says afterwards.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { RunNo } from "@inlet/protocol";
import {
  advance,
  begin,
  beginOne,
  claimAll,
  makeScene,
  NO_ROOM,
  SAMPLE_RULES,
  type Scene,
  sampleLease,
  sampleRun,
  sampleStep,
  stepId,
} from "../src/store/conformance/run-samples.ts";
import { sampleBatch, sampleEvent } from "../src/store/conformance/samples.ts";
import { copyStore } from "../src/store/copy/copy-store.ts";
import { openSqliteStore } from "../src/store/sqlite/sqlite-store.ts";
import { freshDatabase, openPatientStore, whyNoPostgres } from "./support/postgres.ts";
import { temporaryFolder } from "./support/service.ts";

const skip = whyNoPostgres() ?? false;
const HOOKS = { onFault: () => undefined, onRecovery: () => undefined, rules: SAMPLE_RULES };
/** NUL, both halves of a pair alone and together, quotes, backslashes, what looks like an escape, and what SQL and arrays use. */
const ODD_TEXTS = [
  "nul \0 inside",
  "\0",
  "back\\slash",
  "\\u0000",
  "\\\\u0000",
  "trailing\\",
  "quote \" and ' and `",
  "emoji 😀👩‍👩‍👧",
  "line\nbreak\r\n\ttab",
  '{a,"b",NULL}',
  "NULL",
  "%s $1 :x ?",
  "é\u0301 \u202e \ufeff",
  "\u0001\u001f\u007f",
];

/** Fills an embedded store, copies it, and opens what it was copied to. */
async function moved<Filled>(t: Parameters<typeof freshDatabase>[0], fill: (scene: Scene) => Promise<Filled>) {
  const folder = temporaryFolder(t);
  const source = openSqliteStore({ folder, ...HOOKS });
  t.after(() => source.stop());
  const scene = await makeScene(source);
  const filled = await fill(scene);
  const shown = await runsOf(scene);
  await source.stop();
  const url = await freshDatabase(t);
  await copyStore({ folder, url, onProgress: () => undefined });
  const store = await openPatientStore({ url, ...HOOKS });
  t.after(() => store.stop());
  const target = { ...scene, store };
  return { filled, shown, target, shownNow: await runsOf(target) };
}

/** Every run in full. */
async function runsOf({ store, environment }: Scene) {
  const { runs } = await store.runList({ environmentId: environment.id, limit: 100 });
  return Promise.all(runs.map(({ id }) => store.runGet({ environmentId: environment.id, id })));
}

test("names, ids, details and results of steps with odd characters", { skip }, async (t) => {
  const { shown, shownNow } = await moved(t, async (scene) => {
    const steps = ODD_TEXTS.map((text) =>
      sampleStep(`id ${text}`, { name: `name ${text}`, kind: "wait", status: "waiting", until: 90_000, detail: `detail ${text}` }),
    );
    const done = ODD_TEXTS.map((text) =>
      sampleStep(`done ${text}`, { status: "completed", endedAt: 2_000, value: JSON.stringify({ data: text }) }),
    );
    const begun = await beginOne(scene);
    const waits = ODD_TEXTS.map((text) => ({
      kind: "event" as const,
      eventName: `wait ${text}`,
      expression: null,
      match: { path: "n", key: JSON.stringify(text) },
      stepId: stepId(`id ${text}`),
      since: 0,
      expiresAt: 90_000,
    }));
    await advance(scene, begun, { status: "waiting", steps: [...steps, ...done], waits });
  });
  assert.equal(shown[0]?.steps.length, 2 * ODD_TEXTS.length);
  assert.deepEqual(
    shown[0]?.steps.slice(0, ODD_TEXTS.length).map(({ detail }) => detail),
    ODD_TEXTS.map((text) => `detail ${text}`),
    "the embedded store keeps them as they are",
  );
  assert.deepEqual(shownNow, shown);
});

test("halves of pairs are what the embedded store made of them", { skip }, async (t) => {
  const { shown, shownNow } = await moved(t, async (scene) => {
    const step = sampleStep("half", {
      name: "name \ud800",
      kind: "wait",
      status: "waiting",
      until: 90_000,
      detail: "\udc00 detail \ud800",
    });
    await advance(scene, await beginOne(scene), { status: "waiting", steps: [step] });
  });
  assert.deepEqual(shownNow, shown);
});

test("what a run with odd steps waited for resumes it where it was moved to", { skip }, async (t) => {
  const text = 'back\\slash \0 "quoted" 😀';
  const { target } = await moved(t, async (scene) => {
    const step = sampleStep(text, { kind: "wait", status: "waiting", until: 90_000, detail: text });
    const wait = {
      kind: "event" as const,
      eventName: text,
      expression: null,
      match: { path: "n", key: JSON.stringify(text) },
      stepId: stepId(text),
      since: 0,
      expiresAt: 90_000,
    };
    const entries = [{ kind: "resume", stepId: step.id, dueAt: 90_000 } as const];
    await advance(scene, await beginOne(scene), { status: "waiting", steps: [step], waits: [wait], entries });
  });
  const send = (n: string) =>
    target.store.eventAppend(
      sampleBatch(target.environment, [sampleEvent({ name: text, data: JSON.stringify({ n }) })], {
        receivedAt: 3_000,
        lease: sampleLease(),
      }),
    );
  assert.deepEqual((await send("another")).leased, []);
  const [resumed, ...others] = (await send(text)).leased;
  assert.deepEqual([resumed?.kind, resumed?.stepId, others], ["resume", text, []]);
  const event = await target.store.eventAt({ environmentId: target.environment.id, sequence: resumed?.eventSequence ?? 0 });
  assert.equal(event?.data, JSON.stringify({ n: text }));
});

test("entries that a node held are due at once, those that wait are due when they were", { skip }, async (t) => {
  const later = Date.now() + 3_600_000;
  const { filled, target } = await moved(t, async (scene) => {
    const run = sampleRun(scene.functions[0]);
    const [held] = (await begin(scene, [run], { lease: sampleLease({ until: later }) })).leased;
    assert.ok(held);
    const retried = await beginOne(scene);
    await advance(scene, retried, { entry: { retryAt: later, attempt: 3 } });
    const step = await beginOne(scene);
    const entries = [{ kind: "call", stepId: stepId("odd \\ \0 step") } as const];
    const lease = sampleLease({ until: later });
    const { leased } = await advance(scene, step, { steps: [sampleStep("odd \\ \0 step")], entries }, { lease });
    assert.equal(leased.length, 1, "this one is held too");
    const sleeping = await beginOne(scene);
    await advance(scene, sleeping, { status: "sleeping", entries: [{ kind: "wake", stepId: stepId("nap"), dueAt: later }] });
    return { held, retried, step, sleeping };
  });
  const { held, retried, step, sleeping } = filled;
  const brief = (entries: Awaited<ReturnType<typeof claimAll>>) =>
    entries.map(({ runNo, kind, stepId: id, attempt }) => [runNo, kind, id, attempt]).sort(([a], [b]) => Number(a) - Number(b));
  await advance(
    target,
    { runNo: held.runNo as RunNo, entry: held },
    ({ entries }) => {
      assert.deepEqual(
        entries.map(({ leaseId }) => leaseId),
        [null],
        "the node that held it is gone",
      );
      return { entry: "keep" };
    },
    { entry: null },
  );
  const dueAtOnce = [
    [held.runNo, "call", null, 0],
    [step.runNo, "call", "odd \\ \0 step", 0],
  ];
  assert.deepEqual(brief(await claimAll(target, Date.now() + 1_000)), dueAtOnce, "neither is held by a node that is gone");
  assert.deepEqual(brief(await claimAll(target, later - 1)), dueAtOnce, "their leases are over by then, and the others not yet due");
  assert.deepEqual(brief(await claimAll(target, later)), [
    [retried.runNo, "call", null, 3],
    [sleeping.runNo, "wake", "nap", 0],
  ]);
});

test("runs that hold a slot keep it, those at the gate wait on, whether a node held them or not", { skip }, async (t) => {
  const gate = { lane: 'gate:7:["a\\\\b \\u0000"]', home: 'fn:7:["a\\\\b \\u0000"]' };
  const id = 'runs:7:event.data.key:"a\\\\b \\u0000"';
  const admit = async ({ store, functions }: Scene, cap: number) => {
    const params = { functionNo: functions[0], limit: { id, cap }, orderKey: null, throttle: null, gates: [gate], now: 1_000 };
    return (await store.runAdmitMany(params)).admitted;
  };
  const { filled, target } = await moved(t, async (scene) => {
    const runs = [1, 2, 3].map((rank) => sampleRun(scene.functions[0], { lane: gate.lane, rank }));
    for (const run of runs) await begin(scene, [run], { lease: NO_ROOM });
    const nos = await Promise.all(runs.map(async ({ id }) => (await scene.store.runFind({ id }))?.no as RunNo));
    assert.equal(await admit(scene, 1), 1);
    const [entry] = await claimAll(scene, 1_000, "node-1", [gate.home]);
    assert.equal(entry?.runNo, nos[0], "the one with the slot is held by a node");
    return nos;
  });
  const [first, second, third] = filled;
  assert.equal(await admit(target, 1), 0, "the slot is taken");
  const claimed = async () => (await claimAll(target, Date.now() + 1_000, "another", [gate.home])).map(({ runNo }) => runNo);
  assert.deepEqual(await claimed(), [first]);
  assert.deepEqual([await admit(target, 2), await admit(target, 3)], [1, 1]);
  assert.deepEqual(await claimed(), [second, third]);
});
