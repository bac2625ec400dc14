import assert from "node:assert/strict";
import { test } from "node:test";
import type { LeaseId, RunNo } from "@inlet/protocol";
import type { Engine } from "../conformance/engine.ts";
import {
  advance,
  begin,
  beginOne,
  claimAll,
  detailsOf,
  doneStep,
  makeScene,
  NO_ROOM,
  NODE,
  sampleEnd,
  sampleLease,
  sampleRun,
  sampleStep,
  stepId,
} from "../conformance/run-samples.ts";
import { makeEnvironment } from "../conformance/samples.ts";
import type { ClaimedEntry } from "../contract/index.ts";

const runNos = (entries: readonly ClaimedEntry[]) => entries.map(({ runNo }) => runNo);

export function queueConformance(engine: Engine): void {
  test(`${engine.name}: entries are claimed by rank, then in their order, as many as asked for`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const ranks = [3_000, 1_000, 2_000, 1_000];
    const runs = ranks.map((rank) => sampleRun(scene.functions[0], { rank }));
    for (const run of runs) await begin(scene, [run], { lease: NO_ROOM });
    const found = await Promise.all(runs.map(({ id }) => store.runFind({ id })));
    const nos = found.map((run) => run?.no);
    const claim = (limit: number) => store.queueClaimMany({ lane: "app:1", limit, now: 1_000, lease: sampleLease(), limits: [] });
    const first = await claim(3);
    assert.deepEqual(runNos(first.claimed), [nos[1], nos[3], nos[2]]);
    assert.ok(first.more);
    const rest = await claim(3);
    assert.deepEqual([runNos(rest.claimed), rest.more], [[nos[0]], false]);
    assert.deepEqual(runNos((await claim(3)).claimed), [], "everything is held");
    assert.deepEqual(first.claimed.map(({ lane, claims, attempt, kind }) => [lane, claims, attempt, kind])[0], ["app:1", 1, 0, "call"]);
  });

  test(`${engine.name}: where there is room work is leased, elsewhere it is left and announced`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const announced: [string, number][] = [];
    const stopWatching = store.queueWatch((lane, dueAt) => announced.push([lane, dueAt]));
    const run = (lane: string) => sampleRun(scene.functions[0], { lane });
    const lease = sampleLease({ roomIn: (lane) => (lane === "wide" ? 2 : 0) });
    const runs = [run("wide"), run("full"), run("wide"), run("wide")];
    const { leased } = await begin(scene, runs, { lease });
    assert.deepEqual(
      leased.map(({ lane, claims }) => [lane, claims]),
      [
        ["wide", 1],
        ["wide", 1],
      ],
    );
    assert.deepEqual(announced, [
      ["full", 1_000],
      ["wide", 1_000],
    ]);
    const statuses = await Promise.all(runs.map(async ({ id }) => (await detailsOf(scene, id)).status));
    assert.deepEqual(statuses, ["running", "queued", "running", "queued"]);
    assert.deepEqual((await store.queueLanes()).sort(), ["full", "wide"]);
    const left = await claimAll(scene, 1_000, "another", ["wide", "full"]);
    assert.equal(left.length, 2);
    assert.equal((await detailsOf(scene, (runs[1] as (typeof runs)[0]).id)).status, "running", "claimed is running");
    stopWatching();
    await begin(scene, [run("full")], { lease });
    assert.equal(announced.length, 2);
  });

  test(`${engine.name}: a lease keeps others away until it ends; renewed, it lasts`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const { entry } = await beginOne(scene);
    assert.deepEqual(await claimAll(scene, 30_999), []);
    const another = { ...entry, leaseId: "another" as LeaseId };
    assert.deepEqual(await store.queueRenew({ entries: [another], until: 90_000 }), new Set());
    assert.deepEqual(await store.queueRenew({ entries: [entry, another], until: 50_000 }), new Set([entry.leaseId]));
    assert.deepEqual(await claimAll(scene, 49_999), []);
    const [taken] = await claimAll(scene, 50_000);
    assert.deepEqual([taken?.no, taken?.claims, taken?.leasedUntil], [entry.no, 2, 80_000], "taken over from a node that is silent");
    assert.notEqual(taken?.leaseId, entry.leaseId);
    assert.deepEqual(await store.queueRenew({ entries: [entry], until: 90_000 }), new Set(), "which is told so");
  });

  test(`${engine.name}: any number of leases is renewed, and those that are not are over when they are`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const runs = Array.from({ length: 1_201 }, () => sampleRun(scene.functions[0]));
    const { leased } = await begin(scene, runs);
    const [first, ...others] = leased as [ClaimedEntry, ...ClaimedEntry[]];
    assert.equal(others.length, 1_200);
    assert.equal((await store.queueRenew({ entries: others, until: 50_000 })).size, 1_200);
    assert.deepEqual(
      (await claimAll(scene, 40_000)).map(({ no }) => no),
      [first.no],
    );
    assert.equal((await claimAll(scene, 50_000)).length, 1_000, "as many as were asked for");
  });

  test(`${engine.name}: what a node held before it died is due at once, in every lane, and counted`, async (t) => {
    const { store, reopen } = await engine.open(t);
    const scene = await makeScene(store);
    const mine = await beginOne(scene);
    const timer = await beginOne(scene);
    await advance(scene, timer, {
      steps: [sampleStep("nap", { kind: "sleep", status: "sleeping" })],
      entries: [{ kind: "wake", stepId: stepId("nap"), dueAt: 3_000 }],
    });
    assert.equal((await claimAll(scene, 3_000, NODE)).length, 1);
    const [other] = (await begin(scene, [sampleRun(scene.functions[0])], { lease: sampleLease({ node: "other" }) })).leased;
    const again = await reopen();
    await again.queueRecover({ node: NODE, now: 4_000 });
    const claimed = await claimAll({ ...scene, store: again }, 4_000, NODE);
    assert.deepEqual(claimed.map(({ kind, claims }) => [kind, claims]).sort(), [
      ["call", 2],
      ["wake", 2],
    ]);
    assert.deepEqual(
      claimed.filter(({ kind }) => kind === "call").map(({ no }) => no),
      [mine.entry.no],
    );
    assert.ok(other && !claimed.some(({ no }) => no === other.no), "another node's work stays its own");
  });

  test(`${engine.name}: calls keep their order when a node stops, dies or loses its lease, when they fail to be processed and when they are held`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const [functionNo] = scene.functions;
    const environmentId = scene.environment.id;
    // The second is the most urgent one; the last waits behind all of them.
    const runs = [1_000, -5_000, 2_000, 40_000].map((rank) => sampleRun(functionNo, { rank }));
    for (const run of runs) await begin(scene, [run], { lease: NO_ROOM });
    const nos = await Promise.all(runs.map(async ({ id }) => (await store.runFind({ id }))?.no));
    const inOrder = [1, 0, 2, 3].map((n) => nos[n]);
    let now = 1_000;
    const claim = async (limit: number, lane = "app:1", node = NODE) => {
      const lease = sampleLease({ node, until: now + 30_000, roomIn: () => 0 });
      const { claimed } = await store.queueClaimMany({ lane, limit, now, lease, limits: [] });
      return claimed;
    };
    const checkOrder = async (after: string) => {
      const claimed = await claim(10);
      assert.deepEqual(runNos(claimed), inOrder, after);
      assert.deepEqual(
        claimed.map(({ rank }) => rank),
        [-5_000, 1_000, 2_000, 40_000],
      );
      return claimed;
    };
    const first = await claim(2);
    assert.deepEqual(runNos(first), inOrder.slice(0, 2));
    await store.queueRelease({ entries: first, now });
    await store.queueRelease({ entries: await checkOrder("released by a node that stops"), now });
    await store.queueRenew({ entries: await claim(2), until: 50_000 });
    now = 50_000;
    await checkOrder("the renewed lease of two of them is over");
    await store.queueRecover({ node: NODE, now });
    const [faulty, held] = await checkOrder("recovered after a crash");
    await store.queueReschedule({ ...(faulty as ClaimedEntry), dueAt: 60_000 });
    await store.functionPause({ environmentId, functionNo, pausedAt: now });
    await store.queueHold({ ...(held as ClaimedEntry), runNo: held?.runNo as RunNo, functionNo, now });
    await store.functionPause({ environmentId, functionNo, pausedAt: null });
    now = 90_000;
    await store.queueUnhold({ now, limit: 10 });
    assert.deepEqual(await claim(10, "timers"), [], "there is no room: they go to their lane");
    await checkOrder("processed again after a fault, and resumed after a pause");
  });

  test(`${engine.name}: a run that is due later waits among the timers, and goes to its lane when there is room`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const announced: string[] = [];
    t.after(store.queueWatch((lane, dueAt) => announced.push(`${lane} ${dueAt}`)));
    const later = [5_000, 6_000, 7_000].map((dueAt) => sampleRun(scene.functions[0], { dueAt, rank: dueAt }));
    assert.deepEqual((await begin(scene, later)).leased, []);
    assert.deepEqual([await store.queueLanes(), await store.queueNextDue()], [["timers"], 5_000]);
    assert.deepEqual(announced.splice(0), ["timers 5000", "timers 6000", "timers 7000"]);
    assert.deepEqual(await claimAll(scene, 4_999), []);
    let room = 1;
    const lease = sampleLease({ until: 60_000, roomIn: () => room });
    const claim = (lane: string) => store.queueClaimMany({ lane, limit: 10, now: 6_000, lease, limits: [] });
    const fromTimers = await claim("timers");
    assert.deepEqual(
      fromTimers.claimed.map(({ lane, rank }) => [lane, rank]),
      [["app:1", 5_000]],
      "one has room",
    );
    assert.deepEqual(announced, ["app:1 6000"], "and one waits in the lane");
    room = 0;
    assert.deepEqual(
      (await claim("app:1")).claimed.map(({ rank }) => rank),
      [6_000],
    );
    assert.equal(await store.queueNextDue(), 7_000);
  });

  test(`${engine.name}: an entry is let go of, or removed, under its lease only`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const { entry, run } = await beginOne(scene);
    const another = { ...entry, leaseId: "another" as LeaseId };
    await store.queueReschedule({ ...another, dueAt: 2_000 });
    await store.queueRemove(another);
    assert.deepEqual(await claimAll(scene, 2_000), []);
    await store.queueReschedule({ ...entry, dueAt: 3_000 });
    await store.queueRemove(entry);
    assert.equal(await store.queueNextDue(), 3_000);
    const [again] = await claimAll(scene, 3_000, NODE);
    assert.ok(again);
    assert.deepEqual([again.no, again.lane, again.claims], [entry.no, run.lane, 2]);
    await store.queueRemove(again);
    await store.queueRecover({ node: NODE, now: 3_000 });
    assert.deepEqual(await claimAll(scene, 9_000_000), []);
  });

  test(`${engine.name}: what a node lets go of when it stops is due at once for any node, as if it had not been taken up`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const [mine, other] = [await beginOne(scene), await beginOne(scene)];
    const strange = [mine.entry, other.entry].map((entry) => ({ ...entry, leaseId: "another" as LeaseId }));
    await store.queueRelease({ entries: strange, now: 2_000 });
    assert.deepEqual(await claimAll(scene, 2_000), []);
    await store.queueRelease({ entries: [mine.entry], now: 2_000 });
    const claimed = await claimAll(scene, 2_000);
    assert.deepEqual(
      claimed.map(({ no, claims }) => [no, claims]),
      [[mine.entry.no, 1]],
    );
  });

  test(`${engine.name}: probes are counted under the lease, taken back, survive a crash, and end with an outcome`, async (t) => {
    const { store, reopen } = await engine.open(t);
    const scene = await makeScene(store);
    const begun = await beginOne(scene);
    const another = { ...begun.entry, leaseId: "another" as LeaseId };
    await store.queueProbeBegin({ ...another, phase: "calling" });
    for (const phase of ["calling", "concluding", "calling"] as const) await store.queueProbeBegin({ ...begun.entry, phase });
    await store.queueProbeClear({ ...another, phase: "calling" });
    await store.queueProbeClear({ ...begun.entry, phase: "concluding" });
    const again = { ...scene, store: await reopen() };
    await again.store.queueRecover({ node: NODE, now: 2_000 });
    const [tried] = await claimAll(again, 2_000, NODE);
    assert.ok(tried);
    assert.deepEqual([tried.claims, tried.probes], [2, { calling: 2, concluding: 0 }]);
    await advance(again, { ...begun, entry: tried }, { entry: { retryAt: 3_000, attempt: 1 } });
    const [fresh] = await claimAll(again, 3_000, NODE);
    assert.deepEqual([fresh?.claims, fresh?.probes], [1, { calling: 0, concluding: 0 }]);
  });

  test(`${engine.name}: an entry's number is not used again for another`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const first = await beginOne(scene);
    await advance(scene, first, { end: sampleEnd() });
    const second = await beginOne(scene);
    assert.notEqual(second.entry.no, first.entry.no);
  });

  test(`${engine.name}: a second discovery asked for while one is under way follows it, once`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const begun = await beginOne(scene);
    const ask = { entries: [{ kind: "call", stepId: null } as const] };
    for (let n = 0; n < 2; n++) assert.deepEqual((await advance(scene, begun, ask, { entry: null })).leased, [], "it is under way");
    const { leased } = await advance(scene, begun, { steps: [doneStep("a")] });
    assert.deepEqual(
      leased.map(({ no, attempt, claims }) => [no, attempt, claims]),
      [[begun.entry.no, 0, 1]],
    );
    assert.equal((await advance(scene, begun, {})).applied, false, "the lease was another");
    assert.deepEqual((await advance(scene, { ...begun, entry: leased[0] as ClaimedEntry }, {})).leased, [], "and not again");
    assert.deepEqual(await claimAll(scene, 9_000_000), []);
  });

  test(`${engine.name}: a sleeping run returns to its lane`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const lane = 'fn:1:["a\\\\b"]';
    const sleeping = await beginOne(scene, { lane });
    const nap = {
      steps: [sampleStep("nap", { kind: "sleep" as const, status: "sleeping" as const })],
      entries: [{ kind: "wake" as const, stepId: stepId("nap"), dueAt: 90_000 }],
    };
    await advance(scene, sleeping, nap);
    assert.deepEqual(await store.queueLanes(), ["timers"], "a lane without entries is nowhere");
    assert.equal((await detailsOf(scene, sleeping.run.id)).lane, lane);
    const { leased } = await advance(
      scene,
      sleeping,
      (state) => ({ settled: state.steps.map(({ id }) => id), entries: [{ kind: "call", stepId: null }] }),
      { entry: null },
    );
    assert.equal(leased[0]?.lane, lane);
  });

  test(`${engine.name}: the depth of the queue counts calls by environment, and knows since when the next ones wait`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const other = { ...scene, environment: await makeEnvironment(store, "staging") };
    assert.deepEqual(await store.queueDepths(), []);
    const run = (lane: string, dueAt: number) => sampleRun(scene.functions[0], { lane, dueAt, rank: dueAt });
    await begin(scene, [run("app:1", 900), run("app:1", 800), run("fn:1", 1_000)], { lease: NO_ROOM, receivedAt: 1_000 });
    await begin(scene, [run("app:1", 700)], { receivedAt: 1_000 });
    await begin(scene, [run("app:1", 90_000)]);
    await begin(other, [run("app:2", 1_000)]);
    const depths = async () => (await store.queueDepths()).sort((a, b) => a.environmentId - b.environmentId);
    const [here, there] = [scene.environment.id, other.environment.id];
    assert.deepEqual(await depths(), [
      { environmentId: here, waiting: 4, oldestDueAt: 800 },
      { environmentId: there, waiting: 1, oldestDueAt: null },
    ]);
    const claimed = await claimAll(scene, 2_000);
    assert.deepEqual(
      claimed.map(({ dueAt }) => dueAt),
      [800, 900],
    );
    // Leased calls keep their rank, and an unleased one of low priority stands behind them.
    await begin(other, [sampleRun(scene.functions[0], { lane: "app:2", dueAt: 1_100, rank: 9_000_000 })], {
      lease: NO_ROOM,
      receivedAt: 1_100,
    });
    assert.deepEqual((await depths())[1], { environmentId: there, waiting: 2, oldestDueAt: 1_100 });
    assert.deepEqual((await depths())[0], { environmentId: here, waiting: 4, oldestDueAt: 1_000 });
    const byFunction = (await store.queueFunctionDepths()).sort((a, b) => a.environmentId - b.environmentId);
    assert.deepEqual(
      byFunction.map(({ environmentId, functionNo, waiting, oldestDueAt }) => [environmentId, functionNo, waiting, oldestDueAt]),
      [
        [here, scene.functions[0], 4, 1_000],
        [there, scene.functions[0], 2, 1_100],
      ],
    );
    assert.ok((await store.storeBytes()) > 0);
  });
}
