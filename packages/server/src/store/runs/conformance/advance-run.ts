import assert from "node:assert/strict";
import { test } from "node:test";
import type { Engine } from "../../conformance/engine.ts";
import {
  advance,
  beginOne,
  claimAll,
  detailsOf,
  doneStep,
  makeScene,
  NO_ROOM,
  NODE,
  sampleEnd,
  sampleRun,
  sampleStep,
  stepId,
} from "../../conformance/run-samples.ts";
import { sampleBatch, sampleEvent } from "../../conformance/samples.ts";
import type { ClaimedEntry, RunChange } from "../../contract/index.ts";

const DISCOVERY = { kind: "call", stepId: null } as const;

export function runAdvanceConformance(engine: Engine): void {
  test(`${engine.name}: a step's result and the next entry are one change, and the entry is leased`, async (t) => {
    const { store, reopen } = await engine.open(t);
    const scene = await makeScene(store);
    const begun = await beginOne(scene);
    const { applied, leased } = await advance(scene, begun, {
      startedAt: 1_400,
      requestVersion: 2,
      steps: [doneStep("b"), doneStep("a")],
      entries: [DISCOVERY],
    });
    assert.ok(applied);
    assert.deepEqual(
      leased.map(({ no, kind, lane, claims }) => [no, kind, lane, claims]),
      [[begun.entry.no, "call", "app:1", 1]],
    );
    const again = { ...scene, store: await reopen() };
    const details = await detailsOf(again, begun.run.id);
    assert.deepEqual([details.startedAt, details.requestVersion, details.stateBytes], [1_400, 2, 24]);
    assert.deepEqual(
      details.steps.map(({ name, position, status, value }) => [name, position, status, value]),
      [
        ["b", 0, "completed", '{"data":"b"}'],
        ["a", 1, "completed", '{"data":"a"}'],
      ],
    );
    const context = await again.store.runContext(begun);
    assert.deepEqual(context?.steps, [
      { id: "b", value: '{"data":"b"}' },
      { id: "a", value: '{"data":"a"}' },
    ]);
  });

  test(`${engine.name}: steps are given in the order they were done, not found`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const begun = await beginOne(scene);
    await advance(scene, begun, {
      steps: [sampleStep("slow", { status: "planned" }), sampleStep("quick", { status: "planned" })],
      entry: "keep",
    });
    await advance(scene, begun, { steps: [doneStep("quick")], entry: "keep" });
    await advance(scene, begun, { steps: [doneStep("slow")], entry: "keep" });
    const context = await store.runContext(begun);
    assert.deepEqual(
      context?.steps.map(({ id }) => id),
      ["quick", "slow"],
    );
    assert.deepEqual(
      (await detailsOf(scene, begun.run.id)).steps.map(({ name, position }) => [name, position]),
      [
        ["slow", 0],
        ["quick", 1],
      ],
    );
  });

  test(`${engine.name}: a step that is done is never overwritten`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const begun = await beginOne(scene);
    await advance(scene, begun, { steps: [doneStep("a", "1")], entry: "keep" });
    await advance(scene, begun, { steps: [doneStep("a", "2"), sampleStep("a", { status: "planned" })], entry: "keep" });
    await advance(scene, begun, { steps: [doneStep("b", "3")], entry: "keep" });
    const details = await detailsOf(scene, begun.run.id);
    assert.deepEqual(
      details.steps.map(({ value, status, position }) => [value, status, position]),
      [
        ["1", "completed", 0],
        ["3", "completed", 1],
      ],
    );
    assert.equal(details.stateBytes, 2, "what is ignored counts for nothing");
    await advance(scene, begun, { end: sampleEnd(), steps: [doneStep("c", "4")] });
    assert.equal((await detailsOf(scene, begun.run.id)).stateBytes, 3, "and is kept at the end");
  });

  test(`${engine.name}: an entry that is not held, or not the run's, changes nothing`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const [begun, other] = [await beginOne(scene), await beginOne(scene)];
    const change: RunChange = { steps: [doneStep("a")], entries: [DISCOVERY] };
    const refused = async (options: Parameters<typeof advance>[3]) => {
      const decide = () => assert.fail("nothing is to be decided");
      assert.deepEqual(await advance(scene, begun, decide, options), { applied: false, leased: [] });
    };
    await refused({ entry: { ...begun.entry, leaseId: other.entry.leaseId } });
    await refused({ entry: other.entry });
    // The same node claims it again after its own lease: that is another hold.
    const entry = (await claimAll(scene, 40_000, NODE)).find(({ no }) => no === begun.entry.no);
    await refused({});
    assert.deepEqual((await detailsOf(scene, begun.run.id)).steps, []);
    assert.ok(entry);
    assert.ok((await advance(scene, { ...begun, entry }, change)).applied, "who holds it now may");
  });

  test(`${engine.name}: a decision that throws leaves everything as it was`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const begun = await beginOne(scene);
    const failing = advance(scene, begun, () => {
      throw new Error("undecided");
    });
    await assert.rejects(failing, /undecided/);
    assert.ok((await advance(scene, begun, { end: sampleEnd() })).applied);
  });

  test(`${engine.name}: a retry is due at its time, among the timers, with its attempt`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const begun = await beginOne(scene);
    const failure = {
      stepId: stepId("a"),
      attempt: 0,
      startedAt: 1_500,
      endedAt: 2_000,
      httpStatus: 500,
      error: { name: "Error", message: "no" },
    };
    const { leased } = await advance(scene, begun, { attempts: [failure], entry: { retryAt: 7_000, attempt: 1 } });
    assert.deepEqual(leased, []);
    assert.deepEqual([await store.queueNextDue(), await claimAll(scene, 6_999)], [7_000, []]);
    const [again] = await claimAll(scene, 7_000, NODE);
    assert.deepEqual([again?.no, again?.attempt, again?.claims, again?.lane], [begun.entry.no, 1, 1, "app:1"]);
    const details = await detailsOf(scene, begun.run.id);
    assert.deepEqual([details.attempts, details.status], [[failure], "running"]);
  });

  test(`${engine.name}: parallel steps have entries of their own, and one entry each`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const begun = await beginOne(scene);
    const planned = ["a", "b"].map((name) => sampleStep(name, { status: "planned", attempts: 0 }));
    const entries = planned.map(({ id }) => ({ kind: "call" as const, stepId: id }));
    const { leased } = await advance(scene, begun, { steps: planned, entries: [...entries, ...entries], isParallel: true });
    assert.deepEqual(
      leased.map(({ stepId: id }) => id),
      ["a", "b"],
    );
    assert.ok((await store.runFind({ id: begun.run.id }))?.isParallel);
    const [a, b] = leased;
    assert.ok(a && b);
    const after = await advance(scene, { ...begun, entry: a }, { steps: [doneStep("a")], entries: [DISCOVERY] });
    assert.deepEqual(
      after.leased.map(({ stepId: id }) => id),
      [null],
    );
    await advance(scene, { ...begun, entry: b }, (state) => {
      assert.deepEqual(
        state.entries.map(({ stepId: id, leaseId }) => [id, leaseId !== null]).sort(),
        [
          ["b", true],
          [null, true],
        ].sort(),
      );
      return { steps: [doneStep("b")] };
    });
  });

  test(`${engine.name}: without room the next entry waits in the queue`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const begun = await beginOne(scene);
    const announced: string[] = [];
    t.after(store.queueWatch((lane) => announced.push(lane)));
    const { leased } = await advance(scene, begun, { steps: [doneStep("a")], entries: [DISCOVERY] }, { lease: NO_ROOM });
    assert.deepEqual([leased, announced], [[], ["app:1"]]);
    assert.equal((await claimAll(scene, 2_000, NODE))[0]?.claims, 1);
  });

  test(`${engine.name}: all calls of a run stand where its first one stood, after waits and retries too`, async (t) => {
    const { store, reopen } = await engine.open(t);
    const scene = await makeScene(store);
    const begun = await beginOne(scene, { rank: 601_000 });
    const sleep = sampleStep("nap", { kind: "sleep", status: "sleeping" });
    const wake = { kind: "wake", stepId: sleep.id, dueAt: 2_500 } as const;
    await advance(scene, begun, { steps: [sleep], entries: [wake] }, { lease: NO_ROOM });
    const there = { ...scene, store: await reopen() };
    const [timer] = await claimAll(there, 2_500);
    assert.equal(timer?.kind, "wake");
    const next = { steps: [doneStep("nap")], entries: [DISCOVERY] };
    await advance(there, { ...begun, entry: timer as ClaimedEntry }, next, { lease: NO_ROOM });
    const [call] = await claimAll(there, 2_600);
    assert.deepEqual([call?.kind, call?.rank], ["call", 601_000]);
    await advance(there, { ...begun, entry: call as ClaimedEntry }, { entry: { retryAt: 3_000, attempt: 1 } }, { lease: NO_ROOM });
    assert.deepEqual(
      (await claimAll(there, 3_000)).map(({ rank }) => rank),
      [601_000],
    );
  });

  test(`${engine.name}: a run that has ended never changes, and leaves no entry`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const begun = await beginOne(scene, { startBy: 50_000 });
    const sleeping = sampleStep("nap", { kind: "sleep", status: "sleeping", until: 60_000 });
    await advance(scene, begun, { steps: [sleeping], entries: [{ kind: "wake", stepId: sleeping.id, dueAt: 60_000 }], entry: "keep" });
    await advance(scene, begun, {
      end: sampleEnd({ status: "failed", output: null, error: { name: "E", message: "m" } }),
      startedAt: 1_400,
    });
    const ended = await detailsOf(scene, begun.run.id);
    assert.deepEqual([ended.status, ended.error, ended.endedAt, ended.startedAt], ["failed", { name: "E", message: "m" }, 2_000, 1_400]);
    for (const entry of [begun.entry, null]) {
      assert.deepEqual(await advance(scene, begun, () => assert.fail("nothing is to be decided"), { entry }), {
        applied: false,
        leased: [],
      });
    }
    assert.deepEqual(await detailsOf(scene, begun.run.id), ended);
    assert.equal(await store.runContext(begun), null);
    assert.deepEqual(await claimAll(scene, 9_000_000), []);
  });

  test(`${engine.name}: the output is kept as it was written`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const begun = await beginOne(scene);
    await advance(scene, begun, { end: sampleEnd({ output: '{ "n": 12345678901234567890 }' }) });
    const details = await detailsOf(scene, begun.run.id);
    assert.deepEqual([details.status, details.output, details.error], ["completed", '{ "n": 12345678901234567890 }', null]);
  });

  test(`${engine.name}: results leased in while a call goes on keep the entry and begin its attempts anew`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const begun = await beginOne(scene);
    await advance(scene, begun, { entry: { retryAt: 3_000, attempt: 3 } });
    const [entry] = await claimAll(scene, 3_000, NODE);
    assert.ok(entry);
    await advance(scene, begun, { steps: [doneStep("a")], entry: "reset-attempt" }, { entry: null });
    await advance(scene, { ...begun, entry }, (state) => {
      assert.deepEqual(
        state.entries.map(({ attempt, claims }) => [attempt, claims]),
        [[0, 1]],
      );
      return {};
    });
  });

  test(`${engine.name}: the end of a run makes the entry due of the step that invoked it, in the same change`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const parent = await beginOne(scene);
    const child = sampleRun(scene.functions[1], { invoker: { runNo: parent.runNo, stepId: stepId("child") } });
    const invoked = sampleBatch(scene.environment, [sampleEvent({ name: "invoked", runs: [child] })]);
    const waiting = sampleStep("child", { kind: "invoke", status: "waiting", detail: child.id });
    const resume = { kind: "resume", stepId: waiting.id, dueAt: 90_000 } as const;
    const { leased } = await advance(scene, parent, { status: "waiting", steps: [waiting], entries: [resume], events: [invoked] });
    assert.deepEqual(
      leased.map(({ functionNo }) => functionNo),
      [scene.functions[1]],
      "the child is leased with it",
    );
    const [entry] = leased;
    assert.ok(entry?.runNo);
    const end = await advance(scene, { runNo: entry.runNo, entry }, { end: sampleEnd() });
    assert.deepEqual(
      end.leased.map(({ runNo, kind, stepId: id, endedRunNo, eventSequence }) => [runNo, kind, id, endedRunNo, eventSequence]),
      [[parent.runNo, "resume", "child", entry.runNo, null]],
    );
    const { environmentId } = parent;
    assert.deepEqual(await store.runEnd({ environmentId, runNo: entry.runNo }), sampleEnd());
    assert.equal(await store.runEnd({ environmentId, runNo: parent.runNo }), null, "it goes on");
    const [resumed] = end.leased;
    assert.ok(resumed);
    const done = { steps: [{ ...doneStep("child"), kind: "invoke" as const }], settled: [stepId("child")] };
    assert.ok((await advance(scene, { ...parent, entry: resumed }, done)).applied);
    assert.equal(await store.queueNextDue(), null, "its timeout is gone");
  });

  test(`${engine.name}: what a change starts is as old as the decision, and called at once, however long the decision was waited for`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const begun = await beginOne(scene);
    const started = sampleRun(scene.functions[1], { dueAt: 7_000, rank: 7_000 });
    const events = [sampleBatch(scene.environment, [sampleEvent({ runs: [started] })], { receivedAt: 7_000 })];
    const change = { end: sampleEnd({ endedAt: 7_000 }), events, decidedAt: 7_000 };
    const { leased } = await advance(scene, begun, change, { now: 2_000 });
    const { no, createdAt } = await detailsOf(scene, started.id);
    assert.deepEqual(
      leased.map(({ runNo, kind }) => [runNo, kind]),
      [[no, "call"]],
    );
    assert.equal(createdAt, 7_000);
  });

  test(`${engine.name}: the events of an end start and resume what they do, together with it`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const begun = await beginOne(scene);
    const handler = sampleRun(scene.functions[1]);
    const failed = sampleEvent({ name: "function.failed", dedupId: begun.run.id, runs: [handler] });
    const batch = sampleBatch(scene.environment, [failed], { source: { kind: "internal", id: "executor" } });
    const { leased } = await advance(scene, begun, { end: sampleEnd({ status: "failed" }), events: [batch] });
    assert.deepEqual(
      leased.map(({ functionNo }) => functionNo),
      [scene.functions[1]],
    );
    assert.equal((await detailsOf(scene, handler.id)).event?.id, failed.id);
  });

  test(`${engine.name}: a discovery that is claimed while a result is written knows of it, or goes again`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    for (let n = 0; n < 25; n++) {
      const begun = await beginOne(scene);
      const planned = { steps: [sampleStep("a", { status: "planned" })], entries: [{ kind: "call", stepId: stepId("a") } as const] };
      const { leased } = await advance(scene, begun, planned);
      const [step] = leased;
      assert.ok(step);
      // A discovery that waits: there was no room for it.
      const waiting = { entries: [{ kind: "call", stepId: null } as const] };
      await advance(scene, begun, waiting, { entry: null, lease: NO_ROOM });
      const result = { steps: [doneStep("a")], entries: [{ kind: "call", stepId: null } as const] };
      const claim = async () => {
        const [discovery] = await claimAll(scene, 2_000, "another", ["app:1"]);
        return { discovery, context: discovery && (await store.runContext(begun)) };
      };
      const [, early] = await Promise.all([advance(scene, { ...begun, entry: step }, result), claim()]);
      const { discovery, context } = early.discovery ? early : await claim();
      assert.ok(discovery && context, "the discovery is there");
      const isKnown = context.steps.some(({ id }) => id === "a");
      const after = await advance(scene, { ...begun, entry: discovery }, {});
      assert.equal(after.leased.length === 1 || isKnown, true, "a call without the result was not followed by another");
    }
  });
}
