import assert from "node:assert/strict";
import { test } from "node:test";
import type { NewEvent, NewWait } from "../contract/index.ts";
import type { Engine } from "./engine.ts";
import {
  advance,
  type Begun,
  begin,
  beginOne,
  claimAll,
  detailsOf,
  makeScene,
  type Scene,
  sampleLease,
  sampleRun,
  sampleStep,
  stepId,
} from "./run-samples.ts";
import { makeEnvironment, sampleBatch, sampleEvent } from "./samples.ts";

const SINCE_BEGINNING = { sequence: 0, at: 0 };

function sampleWait(changes: Partial<NewWait> = {}): NewWait {
  return { kind: "event", eventName: "answer", expression: null, match: null, stepId: stepId("wait"), expiresAt: 90_000, ...changes };
}

/** The run waits, and its entry is done. */
async function wait(scene: Scene, begun: Begun, changes: Partial<NewWait> = {}, now = 2_000) {
  const waiting = sampleWait(changes);
  const step = sampleStep(waiting.stepId ?? "wait", {
    kind: "wait",
    status: "waiting",
    until: waiting.expiresAt,
    detail: waiting.eventName,
  });
  const timeout = { kind: "timeout", stepId: step.id, dueAt: waiting.expiresAt } as const;
  return advance(scene, begun, { status: "waiting", steps: [step], waits: [waiting], entries: [timeout] }, { now });
}

function send({ store, environment }: Scene, changes: Partial<NewEvent> = {}, receivedAt = 3_000) {
  return store.eventAppend(sampleBatch(environment, [sampleEvent({ name: "answer", ...changes })], { receivedAt, lease: sampleLease() }));
}

async function answerOf(scene: Scene, { run }: Begun, name = "wait"): Promise<string | null> {
  return (await detailsOf(scene, run.id)).steps.find(({ id }) => id === name)?.value ?? null;
}

export function runWaitConformance(engine: Engine): void {
  test(`${engine.name}: an event resumes the run that waits for it, once, and takes the timeout away`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const begun = await beginOne(scene);
    await wait(scene, begun);
    assert.equal((await detailsOf(scene, begun.run.id)).status, "waiting");
    await send(scene, { name: "another" });
    const { handed } = await send(scene, { data: '{"first":true}' });
    assert.deepEqual(
      handed.map(({ runNo, kind }) => [runNo, kind]),
      [[begun.runNo, "call"]],
    );
    assert.deepEqual((await send(scene, { data: '{"second":true}' })).handed, []);
    assert.equal(await answerOf(scene, begun), '{"first":true}');
    assert.deepEqual(
      (await claimAll(scene, 9_000_000)).map(({ kind }) => kind),
      ["call"],
      "no timeout is left",
    );
  });

  test(`${engine.name}: of many waits those whose key fits are found, and expressions are asked`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const keyed: Begun[] = [];
    for (let n = 0; n < 5; n++) {
      const begun = await beginOne(scene, {}, { data: `{"n":${n}}` });
      await wait(scene, begun, { match: { path: "n", key: String(n) }, expression: "same n" });
      keyed.push(begun);
    }
    const asked = await beginOne(scene, {}, { data: '{"color":"red"}' });
    await wait(scene, asked, { expression: "same color" });
    assert.deepEqual(
      (await send(scene, { data: '{"n":3}' })).handed.map(({ runNo }) => runNo),
      [keyed[3]?.runNo],
    );
    assert.deepEqual((await send(scene, { data: '{"n":9,"color":"blue"}' })).handed, []);
    assert.deepEqual(
      (await send(scene, { data: '{"n":1,"color":"red"}' })).handed.map(({ runNo }) => runNo).sort(),
      [keyed[1]?.runNo, asked.runNo].sort(),
    );
  });

  test(`${engine.name}: another environment's event, a late one and the run's own resume nothing`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const elsewhere = await makeEnvironment(store, "staging");
    const begun = await beginOne(scene, {}, { name: "answer" });
    await wait(scene, begun, { expiresAt: 5_000, since: SINCE_BEGINNING });
    await send({ ...scene, environment: elsewhere });
    await send(scene, {}, 5_000);
    assert.equal(await answerOf(scene, begun), null);
    await send(scene, {}, 4_999);
    assert.notEqual(await answerOf(scene, begun), null);
  });

  test(`${engine.name}: an event that was stored while the wait was on its way is not missed`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const begun = await beginOne(scene);
    const context = await store.runContext(begun);
    const since = { sequence: context?.lastSequence ?? 0, at: 1_500 };
    // Received before the call began, and stored after: what counts is the order of commits.
    await send(scene, { data: '{"n":1}' }, 1_499);
    await send(scene, { data: '{"n":2}' }, 1_600);
    const { handed } = await wait(scene, begun, { since });
    assert.deepEqual(
      handed.map(({ runNo, kind }) => [runNo, kind]),
      [[begun.runNo, "call"]],
    );
    assert.equal(await answerOf(scene, begun), '{"n":1}', "the first of them");
    assert.equal((await detailsOf(scene, begun.run.id)).status, "running");
    const entries = (await claimAll(scene, 9_000_000)).map(({ kind }) => kind);
    assert.deepEqual(entries, ["call"], "no timeout is left");
  });

  test(`${engine.name}: an event from before the call began is not taken twice, even in the same instant`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const begun = await beginOne(scene);
    await wait(scene, begun, { stepId: stepId("first") });
    const { handed } = await send(scene, {}, 3_000);
    const [entry] = handed;
    assert.ok(entry);
    const context = await store.runContext(begun);
    await wait(scene, { ...begun, entry }, { stepId: stepId("second"), since: { sequence: context?.lastSequence ?? 0, at: 3_000 } }, 3_000);
    assert.equal(await answerOf(scene, begun, "second"), null);
    await send(scene, { data: '{"later":true}' }, 3_000);
    assert.equal(await answerOf(scene, begun, "second"), '{"later":true}');
  });

  test(`${engine.name}: an event and a wait at the same time find each other`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    for (let n = 0; n < 20; n++) {
      const begun = await beginOne(scene);
      const context = await store.runContext(begun);
      const since = { sequence: context?.lastSequence ?? 0, at: 1_000 };
      const both = [() => wait(scene, begun, { since }), () => send(scene, { data: `{"n":${n}}` })];
      await Promise.all((n % 2 === 0 ? both : both.reverse()).map((act) => act()));
      assert.equal(await answerOf(scene, begun), `{"n":${n}}`);
    }
  });

  test(`${engine.name}: events and waits that may be written together find each other`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const begun = await Promise.all(Array.from({ length: 60 }, () => beginOne(scene)));
    const since = { sequence: await store.eventSequence(), at: 1_000 };
    const waiting = begun.map((one, n) => wait(scene, one, { eventName: `answer-${n}`, since }));
    // An engine may read before it writes: events that come at any moment of that meet the waits as they are written.
    const sent = begun.map(async (_, n) => {
      for (let turn = 0; turn < n; turn++) await new Promise((resolve) => setImmediate(resolve));
      return send(scene, { name: `answer-${n}` });
    });
    await Promise.all([...waiting, ...sent]);
    const missed = await Promise.all(begun.map(async (one) => (await answerOf(scene, one)) === null));
    assert.equal(missed.filter(Boolean).length, 0, "events were missed");
  });

  test(`${engine.name}: an event cancels the runs it is meant to cancel, and them only`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const cancels = [{ kind: "cancel" as const, eventName: "stop", expression: "same n", match: null, stepId: null, expiresAt: 90_000 }];
    const [hit, missed] = [
      await beginOne(scene, { cancels }, { data: '{"n":1}' }),
      await beginOne(scene, { cancels }, { data: '{"n":2}' }),
    ];
    await send(scene, { name: "stop", data: '{"n":1}' });
    assert.deepEqual(
      [(await detailsOf(scene, hit.run.id)).status, (await detailsOf(scene, missed.run.id)).status],
      ["cancelled", "running"],
    );
    const late = await advance(scene, hit, () => assert.fail("nothing is to be decided"));
    assert.equal(late.applied, false, "an answer that comes after it changes nothing");
    await send(scene, { name: "stop", data: '{"n":2}' }, 90_000);
    assert.equal((await detailsOf(scene, missed.run.id)).status, "running", "too late");
  });

  test(`${engine.name}: the event that starts a run does not cancel it, another one of the same name does`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const cancels = [{ kind: "cancel" as const, eventName: "answer", expression: null, match: null, stepId: null, expiresAt: 90_000 }];
    const first = await beginOne(scene, { cancels }, { name: "answer" });
    const statuses = async (...begun: Begun[]) => Promise.all(begun.map(async ({ run }) => (await detailsOf(scene, run.id)).status));
    assert.deepEqual(await statuses(first), ["running"]);
    const second = await beginOne(scene, { cancels }, { name: "answer" });
    assert.deepEqual(await statuses(first, second), ["cancelled", "running"]);
    await send(scene);
    assert.deepEqual(await statuses(first, second), ["cancelled", "cancelled"]);
  });

  test(`${engine.name}: an event cancels a run that an earlier event of its batch starts, and no other`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const cancels = [{ kind: "cancel" as const, eventName: "stop", expression: "same n", match: null, stepId: null, expiresAt: 90_000 }];
    const [early, late, again] = [1, 2, 3].map(() => sampleRun(scene.functions[0], { cancels, startBy: 80_000 }));
    assert.ok(early && late && again);
    await store.eventAppend(sampleBatch(scene.environment, [sampleEvent({ dedupId: "known" })]));
    const batch = [
      sampleEvent({ data: '{"n":1}', runs: [early] }),
      // A duplicate starts nothing, so there is nothing to cancel.
      sampleEvent({ data: '{"n":3}', runs: [again], dedupId: "known" }),
      sampleEvent({ name: "stop", data: '{"n":1}', dedupId: "stop 1" }),
      sampleEvent({ name: "stop", data: '{"n":2}' }),
      sampleEvent({ name: "stop", data: '{"n":3}' }),
      sampleEvent({ data: '{"n":2}', runs: [late] }),
    ];
    const { handed, duplicates } = await store.eventAppend(sampleBatch(scene.environment, batch, { lease: sampleLease() }));
    assert.equal(duplicates, 1);
    assert.equal((await detailsOf(scene, early.id)).status, "cancelled");
    assert.equal((await detailsOf(scene, late.id)).status, "running");
    assert.equal(await store.runGet({ environmentId: scene.environment.id, id: again.id }), null);
    const lateNo = (await detailsOf(scene, late.id)).no;
    assert.deepEqual(
      handed.map(({ runNo, kind }) => [runNo, kind]),
      [[lateNo, "call"]],
      "nobody works on a run that has ended",
    );
    assert.deepEqual((await claimAll(scene, 80_000)).map(({ runNo, kind }) => [runNo, kind]).sort(), [
      [lateNo, "call"],
      [lateNo, "start-by"],
    ]);
    await send(scene, { name: "stop", data: '{"n":1}' });
    await send(scene, { name: "stop", data: '{"n":2}' });
    assert.equal((await detailsOf(scene, late.id)).status, "cancelled", "by a later event it is");
  });

  test(`${engine.name}: a change of a run may send the event that its own step begins to wait for`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const begun = await beginOne(scene);
    const step = sampleStep("wait", { kind: "wait", status: "waiting", until: 90_000, detail: "answer" });
    const events = [sampleBatch(scene.environment, [sampleEvent({ name: "answer", data: '{"own":true}' })], { receivedAt: 2_000 })];
    const { handed } = await advance(scene, begun, { status: "waiting", steps: [step], waits: [sampleWait()], events });
    assert.equal(await answerOf(scene, begun), '{"own":true}');
    assert.deepEqual(
      handed.map(({ runNo, kind }) => [runNo, kind]),
      [[begun.runNo, "call"]],
    );
  });

  test(`${engine.name}: what a run that ended waited for concerns nobody`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const cancels = [{ kind: "cancel" as const, eventName: "answer", expression: null, match: null, stepId: null, expiresAt: 90_000 }];
    const begun = await beginOne(scene, { cancels });
    await wait(scene, begun);
    await send(scene);
    const details = await detailsOf(scene, begun.run.id);
    assert.ok(["cancelled", "running"].includes(details.status));
    assert.deepEqual(
      (await send(scene)).handed.filter(({ runNo }) => runNo === begun.runNo),
      [],
    );
  });

  test(`${engine.name}: one event starts runs, resumes others, and a resumed run without room is queued`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const begun = await beginOne(scene);
    await wait(scene, begun);
    const started = sampleRun(scene.functions[1]);
    const lease = sampleLease({ roomIn: () => 1 });
    const { handed } = await begin(scene, [started], { event: { name: "answer" }, lease, receivedAt: 3_000 });
    assert.equal(handed.length, 1);
    assert.equal((await claimAll(scene, 3_000, "node-1")).length, 1);
    assert.notEqual(await answerOf(scene, begun), null);
  });
}
