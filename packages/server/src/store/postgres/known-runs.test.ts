/** What a node knows of the runs it works on is what another one reads. */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { RunNo } from "@inlet/protocol";
import { countedDatabase } from "../../../test/support/function-calls.ts";
import { freshDatabase, inDatabase, whyNoPostgres } from "../../../test/support/postgres.ts";
import {
  advance,
  type Begun,
  begin,
  beginOne,
  claimAll,
  doneStep,
  makeScene,
  NO_ROOM,
  NODE,
  SAMPLE_RULES,
  type Scene,
  sampleEnd,
  sampleRun,
  sampleStep,
} from "../conformance/run-samples.ts";
import type { Store } from "../contract/index.ts";
import { KnownRuns } from "./known-runs.ts";
import { openPostgresStore } from "./postgres-store.ts";
import type { ReadRun } from "./run-reads.ts";

const skip = whyNoPostgres() ?? false;
const GOES_ON = { entries: [{ kind: "call", stepId: null }] } as const;

interface World {
  scene: Scene;
  other: Store;
  url: string;
}

async function open(t: TestContext): Promise<World> {
  const url = await freshDatabase(t);
  const hooks = { url, rules: SAMPLE_RULES, onFault: () => undefined, onRecovery: () => undefined };
  const [store, other] = [await openPostgresStore(hooks), await openPostgresStore(hooks)];
  t.after(() => Promise.all([store.stop(), other.stop()]));
  return { scene: await makeScene(store), other, url };
}

async function assertSameElsewhere({ scene, url }: World, begun: Begun): Promise<void> {
  const here = await scene.store.runContext(begun);
  const fresh = await openPostgresStore({ url, rules: SAMPLE_RULES, onFault: () => undefined, onRecovery: () => undefined });
  const elsewhere = await fresh.runContext(begun);
  await fresh.stop();
  assert.ok(here && elsewhere);
  assert.deepEqual({ ...here, lastSequence: 0 }, { ...elsewhere, lastSequence: 0 });
  assert.ok(here.lastSequence >= here.run.eventSequence);
}

test("a run is known from its start to its end, and is what it would be read as", { skip }, async (t) => {
  const world = await open(t);
  const { scene } = world;
  const begun = await beginOne(
    scene,
    { startBy: 100_000 },
    { data: '{"text":"\\u0000 ä \u{1f9c0}"}', extras: '{"v":"2"}', dedupId: "once" },
  );
  await assertSameElsewhere(world, begun);
  await advance(scene, begun, { ...GOES_ON, steps: [doneStep("a")], startedAt: 1_500, requestVersion: 1, status: "running" });
  await assertSameElsewhere(world, begun);
  const sleeping = sampleStep("sleeping", { kind: "sleep", status: "sleeping", until: 50_000 });
  await advance(scene, begun, { ...GOES_ON, steps: [doneStep("b"), sleeping, doneStep("c", "null")], isParallel: true });
  await assertSameElsewhere(world, begun);
  await advance(scene, begun, { entry: { retryAt: 2_000, attempt: 1 } });
  await assertSameElsewhere(world, begun);
  const { applied } = await advance(scene, begun, ({ steps, run }) => {
    assert.deepEqual(
      steps.map(({ id }) => id),
      ["a", "b", "sleeping", "c"],
    );
    assert.equal(run.isParallel, true);
    return { end: sampleEnd() };
  });
  assert.equal(applied, true);
  assert.equal(await scene.store.runContext(begun), null);
});

test("runs that a node claimed are known as well", { skip }, async (t) => {
  const world = await open(t);
  const { scene } = world;
  await begin(scene, [sampleRun(scene.functions[0]), sampleRun(scene.functions[1])], { lease: NO_ROOM });
  for (const entry of await claimAll(scene, 5_000, NODE)) {
    const begun = { environmentId: scene.environment.id, runNo: entry.runNo as RunNo, entry, run: sampleRun(scene.functions[0]) };
    await assertSameElsewhere(world, begun);
    await advance(scene, begun, { ...GOES_ON, steps: [doneStep("a")] }, { now: 6_000 });
    await assertSameElsewhere(world, begun);
    assert.equal((await advance(scene, begun, { end: sampleEnd() })).applied, true);
  }
});

test("nothing is read for a run that starts and ends on one node", { skip }, async (t) => {
  const { url, callsBy } = await countedDatabase(t);
  const store = await openPostgresStore({ url, rules: SAMPLE_RULES, onFault: () => undefined, onRecovery: () => undefined });
  const scene = await makeScene(store);
  const begun = await beginOne(scene);
  await scene.store.runContext(begun);
  await advance(scene, begun, { ...GOES_ON, steps: [doneStep("a")] });
  await scene.store.runContext(begun);
  await advance(scene, begun, { end: sampleEnd() });
  const called = await callsBy([store]);
  for (const name of ["whole_runs", "runs_at", "events_at", "steps_of"]) assert.equal(called[name], undefined, `${name} was called`);
});

test("what another node does to a run counts, though this one knew it otherwise", { skip }, async (t) => {
  const { scene, other } = await open(t);
  const there = { ...scene, store: other };
  const changed = await beginOne(scene);
  await advance(there, changed, { steps: [doneStep("elsewhere")], entry: "keep" }, { entry: null });
  const decidedOn: number[] = [];
  const { applied } = await advance(scene, changed, ({ steps }) => {
    decidedOn.push(steps.length);
    return { end: sampleEnd() };
  });
  assert.deepEqual([applied, decidedOn.at(-1)], [true, 1]);
  const cancelled = await beginOne(scene);
  await advance(there, cancelled, { end: sampleEnd({ status: "cancelled" }) }, { entry: null });
  assert.equal((await advance(scene, cancelled, { end: sampleEnd() })).applied, false);
});

test("a node hears of a run that another one cancelled, and does not call its app", { skip }, async (t) => {
  const { scene, other } = await open(t);
  const begun = await beginOne(scene);
  await advance({ ...scene, store: other }, begun, { end: sampleEnd({ status: "cancelled" }) }, { entry: null });
  // It would forget the run after ten seconds without being told.
  const until = performance.now() + 9_000;
  while ((await scene.store.runContext(begun)) !== null && performance.now() < until) await sleep(5);
  assert.equal(await scene.store.runContext(begun), null);
});

test("what a node may have missed while nobody told it anything is not believed", { skip }, async (t) => {
  const { scene, other, url } = await open(t);
  const begun = await beginOne(scene);
  await inDatabase(url, (client) =>
    client.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'"),
  );
  await advance({ ...scene, store: other }, begun, { end: sampleEnd({ status: "cancelled" }) }, { entry: null });
  await sleep(1_100);
  assert.equal(await scene.store.runContext(begun), null);
});

test("little is kept: no large payloads, and only so much of small ones", () => {
  const runs = new KnownRuns(() => true);
  const held = { no: 1, kind: "call", stepId: null, attempt: 0, claims: 1, isHeld: true, leasedBy: NODE, goesAgain: false };
  const keep = (no: number, value: string) =>
    runs.keep({ read: { run: { no }, entries: [held] } as unknown as ReadRun, events: [], steps: [{ id: "a" as never, value }] });
  const isKnown = (no: number) => runs.find(no as RunNo) !== null;
  keep(1, "x".repeat(300_000));
  assert.equal(isKnown(1), false);
  for (let no = 1; no <= 100; no++) keep(no, "x".repeat(200_000));
  assert.deepEqual([isKnown(1), isKnown(20), isKnown(21), isKnown(100)], [false, false, true, true]);
  keep(100, "x".repeat(300_000));
  assert.equal(isKnown(100), false, "it is not what it was");
  keep(20, "x".repeat(200_000));
  assert.deepEqual([isKnown(20), isKnown(21)], [true, true]);
  runs.forget([21 as RunNo]);
  assert.equal(isKnown(21), false);
});
