import assert from "node:assert/strict";
import { test } from "node:test";
import type { EventId } from "@inlet/protocol";
import type { Engine } from "../conformance/engine.ts";
import {
  advance,
  type Begun,
  begin,
  beginOne,
  claimAll,
  detailsOf,
  makeScene,
  NODE,
  type Scene,
  sampleEnd,
  sampleLease,
  sampleRun,
  sampleStep,
  stepId,
} from "../conformance/run-samples.ts";
import { makeEnvironment, sampleBatch, sampleEvent } from "../conformance/samples.ts";
import type { ClaimedEntry, EventRelation, NewEvent, NewWait } from "../contract/index.ts";

function sampleWait(changes: Partial<NewWait> = {}): NewWait {
  const forAny = { kind: "event", eventName: "answer", expression: null, match: null } as const;
  return { ...forAny, stepId: stepId("wait"), since: 2_000, expiresAt: 90_000, ...changes };
}

const CANCEL: NewWait = { kind: "cancel", eventName: "stop", expression: "same n", match: null, stepId: null, since: 0, expiresAt: 90_000 };

/** The run waits, and its entry is done. */
async function wait(scene: Scene, begun: Begun, changes: Partial<NewWait> = {}, now = 2_000) {
  const waiting = sampleWait(changes);
  const step = sampleStep(waiting.stepId ?? "wait", {
    kind: "wait",
    status: "waiting",
    until: waiting.expiresAt,
    detail: waiting.eventName,
  });
  const resume = { kind: "resume", stepId: step.id, dueAt: waiting.expiresAt } as const;
  return advance(scene, begun, { status: "waiting", steps: [step], waits: [waiting], entries: [resume] }, { now });
}

function send({ store, environment }: Scene, changes: Partial<NewEvent> = {}, receivedAt = 3_000) {
  return store.eventAppend(sampleBatch(environment, [sampleEvent({ name: "answer", ...changes })], { receivedAt, lease: sampleLease() }));
}

/** The data of the event that the step is told of, once its entry is due; null while it waits. Nobody holds the entry then. */
async function answerOf({ store, environment }: Scene, { runNo }: Begun, name = "wait"): Promise<string | null> {
  const { claimed } = await store.queueClaimMany({ lane: "timers", limit: 1_000, now: 4_000, lease: sampleLease(), limits: [] });
  await store.queueRelease({ entries: claimed, now: 4_000 });
  const due = claimed.find((entry) => entry.runNo === runNo && entry.stepId === name);
  if (!due || due.eventSequence === null) return null;
  return (await store.eventAt({ environmentId: environment.id, sequence: due.eventSequence }))?.data ?? null;
}

const runAndKind = (entries: readonly ClaimedEntry[]) => entries.map(({ runNo, kind }) => [runNo, kind]);

export function runWaitConformance(engine: Engine): void {
  test(`${engine.name}: what waits for an event is counted by function`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const [first, second] = scene.functions;
    for (const functionNo of [first, first, second]) await wait(scene, await beginOne(scene, { functionNo }));
    await wait(scene, await beginOne(scene), { eventName: "another" });
    const count = async (eventName: string, limit = 100) => {
      const found = await store.waitCountByFunction({ environmentId: scene.environment.id, eventName, limit });
      return found.map(({ functionNo, waits }) => [functionNo, waits]).sort();
    };
    assert.deepEqual(await count("answer"), [
      [first, 2],
      [second, 1],
    ]);
    assert.deepEqual(await count("nobody"), []);
    assert.equal((await count("answer", 1)).length, 1);
    const elsewhere = await makeEnvironment(store, "staging");
    assert.deepEqual(await store.waitCountByFunction({ environmentId: elsewhere.id, eventName: "answer", limit: 9 }), []);
  });

  test(`${engine.name}: an event makes the entry due of the step that waits for it, once`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const begun = await beginOne(scene);
    await wait(scene, begun);
    assert.equal((await detailsOf(scene, begun.run.id)).status, "waiting");
    await send(scene, { name: "another" });
    const { leased } = await send(scene, { data: '{"first":true}' });
    assert.deepEqual(
      leased.map(({ runNo, kind, stepId: id, claims }) => [runNo, kind, id, claims]),
      [[begun.runNo, "resume", "wait", 1]],
    );
    assert.deepEqual((await send(scene, { data: '{"second":true}' })).leased, []);
    await store.queueRelease({ entries: leased, now: 3_000 });
    assert.equal(await answerOf(scene, begun), '{"first":true}');
    assert.deepEqual(runAndKind(await claimAll(scene, 9_000_000)), [[begun.runNo, "resume"]], "there is one entry");
  });

  test(`${engine.name}: a timeout that is being worked on came first`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const begun = await beginOne(scene);
    await wait(scene, begun, { expiresAt: 3_000 });
    const [timeout] = await claimAll(scene, 3_000, NODE, ["timers"]);
    assert.ok(timeout);
    assert.deepEqual((await send(scene, {}, 2_999)).leased, []);
    const { applied } = await advance(scene, { ...begun, entry: timeout }, { settled: [stepId("wait")] });
    assert.ok(applied);
    assert.deepEqual(await claimAll(scene, 9_000_000), []);
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
      (await send(scene, { data: '{"n":3}' })).leased.map(({ runNo }) => runNo),
      [keyed[3]?.runNo],
    );
    assert.deepEqual((await send(scene, { data: '{"n":9,"color":"blue"}' })).leased, []);
    assert.deepEqual(
      (await send(scene, { data: '{"n":1,"color":"red"}' })).leased.map(({ runNo }) => runNo).sort(),
      [keyed[1]?.runNo, asked.runNo].sort(),
    );
  });

  test(`${engine.name}: a condition may contain any character`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const begun = await beginOne(scene, {}, { data: '{"x\\u0000y":1}' });
    await wait(scene, begun, { expression: "same x\u0000y" });
    assert.deepEqual((await send(scene, { data: '{"x\\u0000y":2}' })).leased, []);
    assert.deepEqual(runAndKind((await send(scene, { data: '{"x\\u0000y":1}' })).leased), [[begun.runNo, "resume"]]);
  });

  test(`${engine.name}: another environment's event and a late one resume nothing`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const elsewhere = await makeEnvironment(store, "staging");
    const begun = await beginOne(scene);
    await wait(scene, begun, { expiresAt: 5_000 });
    await send({ ...scene, environment: elsewhere });
    assert.deepEqual((await send(scene, {}, 5_000)).leased, []);
    assert.deepEqual(runAndKind((await send(scene, {}, 4_999)).leased), [[begun.runNo, "resume"]]);
  });

  test(`${engine.name}: the event that started a run neither resumes nor cancels it`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const cancels = [{ ...CANCEL, eventName: "answer", expression: null }];
    const begun = await beginOne(scene, { cancels }, { name: "answer" });
    assert.deepEqual((await wait(scene, begun, { since: 0 })).leased, []);
    assert.deepEqual(await claimAll(scene, 50_000), [], "only the timeout is left, which is not due");
    assert.deepEqual(runAndKind((await send(scene)).leased).sort(), [
      [begun.runNo, "cancel"],
      [begun.runNo, "resume"],
    ]);
  });

  test(`${engine.name}: events count that were received since, stored before the wait or after`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const [before, after] = [await beginOne(scene), await beginOne(scene)];
    await send(scene, { data: '{"n":1}' }, 1_499);
    await send(scene, { data: '{"n":2}' }, 1_500);
    await send(scene, { data: '{"n":3}' }, 1_600);
    const { leased } = await wait(scene, before, { since: 1_500 });
    assert.deepEqual(runAndKind(leased), [[before.runNo, "resume"]]);
    await store.queueRelease({ entries: leased, now: 3_000 });
    assert.equal(await answerOf(scene, before), '{"n":2}', "the first of them");
    assert.deepEqual((await wait(scene, after, { since: 1_601 })).leased, []);
    assert.deepEqual((await send(scene, {}, 1_600)).leased, [], "received before, stored after");
    assert.deepEqual(runAndKind((await send(scene, {}, 1_601)).leased), [[after.runNo, "resume"]]);
  });

  test(`${engine.name}: a timeout that is being processed learns of an event that was received in time`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const begun = await beginOne(scene);
    await wait(scene, begun, { expiresAt: 5_000 });
    const [timeout] = await claimAll(scene, 5_000);
    assert.equal(timeout?.eventSequence, null);
    assert.deepEqual((await send(scene, { data: '{"n":1}' }, 4_999)).leased, []);
    let arrived: number | null | undefined;
    const result = await advance(scene, { ...begun, entry: timeout }, ({ entries }) => {
      arrived = entries.find(({ no }) => no === timeout.no)?.eventSequence;
      return { entry: "keep" };
    });
    assert.ok(result.applied && arrived);
    const second = await send(scene, { data: '{"n":2}' }, 4_999);
    const event = await store.eventAt({ environmentId: scene.environment.id, sequence: arrived });
    assert.deepEqual([event?.data, event?.isMatched], ['{"n":1}', true]);
    const { events } = await store.eventList({ environmentId: scene.environment.id, name: "answer", matched: false, limit: 10 });
    assert.deepEqual(
      events.map(({ id }) => id),
      second.ids,
      "only one event resumes the run",
    );
  });

  test(`${engine.name}: an event and a wait at the same time find each other`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    for (let n = 0; n < 20; n++) {
      const begun = await beginOne(scene);
      const both = [() => wait(scene, begun), () => send(scene, { data: `{"n":${n}}` })];
      const results = await Promise.all((n % 2 === 0 ? both : both.reverse()).map((act) => act()));
      assert.deepEqual(runAndKind(results.flatMap(({ leased }) => leased)), [[begun.runNo, "resume"]]);
      await advance(scene, begun, { end: sampleEnd() }, { entry: null });
    }
  });

  test(`${engine.name}: events and waits that may be written together find each other`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const begun = await Promise.all(Array.from({ length: 60 }, () => beginOne(scene)));
    const waiting = begun.map((one, n) => wait(scene, one, { eventName: `answer-${n}` }));
    // An engine may read before it writes: events that come at any moment of that meet the waits as they are written.
    const sent = begun.map(async (_, n) => {
      for (let turn = 0; turn < n; turn++) await new Promise((resolve) => setImmediate(resolve));
      return send(scene, { name: `answer-${n}` });
    });
    const results = await Promise.all([...waiting, ...sent]);
    const resumed = new Set(results.flatMap(({ leased }) => leased).map(({ runNo }) => runNo));
    assert.equal(resumed.size, begun.length, "events were missed");
  });

  test(`${engine.name}: an event cancels the runs it is meant to cancel, and them only, once`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const cancels = [CANCEL];
    const [hit, missed] = [
      await beginOne(scene, { cancels }, { data: '{"n":1}' }),
      await beginOne(scene, { cancels }, { data: '{"n":2}' }),
    ];
    const { leased, ids } = await send(scene, { name: "stop", data: '{"n":1}' });
    assert.deepEqual(runAndKind(leased), [[hit.runNo, "cancel"]]);
    assert.deepEqual((await send(scene, { name: "stop", data: '{"n":1}' })).leased, []);
    const [entry] = leased;
    assert.ok(entry);
    const [eventId] = ids as [EventId];
    assert.ok((await advance(scene, { ...hit, entry }, { end: sampleEnd({ status: "cancelled", cancelledBy: eventId }) })).applied);
    assert.deepEqual(await Promise.all([hit, missed].map(async ({ run }) => (await detailsOf(scene, run.id)).cancelledBy)), [
      eventId,
      null,
    ]);
    const related = (eventRelation: EventRelation) =>
      store
        .runList({ environmentId: scene.environment.id, eventId, eventRelation, limit: 10 })
        .then(({ runs }) => runs.map(({ no }) => no));
    assert.deepEqual(await related("cancelled"), [hit.runNo]);
    assert.deepEqual(await related("resumed"), []);
    assert.deepEqual(await related("started"), []);
    const late = await advance(scene, hit, () => assert.fail("nothing is to be decided"));
    assert.equal(late.applied, false, "a response that comes after it changes nothing");
    assert.deepEqual((await send(scene, { name: "stop", data: '{"n":2}' }, 90_000)).leased, [], "too late");
    assert.equal((await detailsOf(scene, missed.run.id)).status, "running");
  });

  test(`${engine.name}: the event that starts a run does not cancel it, another one of the same name does`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const cancels = [{ ...CANCEL, eventName: "answer", expression: null }];
    const first = await beginOne(scene, { cancels }, { name: "answer" });
    const run = sampleRun(scene.functions[0], { cancels });
    const { leased } = await begin(scene, [run], { event: { name: "answer" } });
    const secondNo = (await detailsOf(scene, run.id)).no;
    assert.deepEqual(runAndKind(leased).sort(), [
      [first.runNo, "cancel"],
      [secondNo, "call"],
    ]);
    assert.deepEqual(runAndKind((await send(scene)).leased), [[secondNo, "cancel"]]);
  });

  test(`${engine.name}: an event cancels a run that an earlier event of its batch starts, and no other`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const [early, late, again] = [1, 2, 3].map(() => sampleRun(scene.functions[0], { cancels: [CANCEL] }));
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
    const { leased, duplicates } = await store.eventAppend(sampleBatch(scene.environment, batch, { lease: sampleLease() }));
    assert.equal(duplicates, 1);
    assert.equal(await store.runGet({ environmentId: scene.environment.id, id: again.id }), null);
    const [earlyNo, lateNo] = [(await detailsOf(scene, early.id)).no, (await detailsOf(scene, late.id)).no];
    assert.deepEqual(runAndKind(leased).sort(), [
      [earlyNo, "call"],
      [earlyNo, "cancel"],
      [lateNo, "call"],
    ]);
    assert.deepEqual(runAndKind((await send(scene, { name: "stop", data: '{"n":2}' })).leased), [[lateNo, "cancel"]], "a later event may");
  });

  test(`${engine.name}: a change of a run may send the event that its own step begins to wait for`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const begun = await beginOne(scene);
    const step = sampleStep("wait", { kind: "wait", status: "waiting", until: 90_000, detail: "answer" });
    const events = [sampleBatch(scene.environment, [sampleEvent({ name: "answer", data: '{"own":true}' })], { receivedAt: 2_000 })];
    const entries = [{ kind: "resume", stepId: step.id, dueAt: 90_000 } as const];
    const { leased } = await advance(scene, begun, { status: "waiting", steps: [step], waits: [sampleWait()], entries, events });
    assert.deepEqual(runAndKind(leased), [[begun.runNo, "resume"]]);
  });

  test(`${engine.name}: what a run that ended waited for concerns nobody`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const begun = await beginOne(scene, { cancels: [{ ...CANCEL, eventName: "answer", expression: null }] });
    await wait(scene, begun);
    await advance(scene, begun, { end: sampleEnd() }, { entry: null });
    assert.deepEqual((await send(scene)).leased, []);
    assert.deepEqual(await claimAll(scene, 9_000_000), []);
  });

  test(`${engine.name}: one event starts runs, resumes others, and what has no room is queued`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const begun = await beginOne(scene);
    await wait(scene, begun);
    const started = sampleRun(scene.functions[1]);
    const lease = sampleLease({ roomIn: (lane) => (lane === "timers" ? 0 : 1) });
    const { leased } = await begin(scene, [started], { event: { name: "answer" }, lease, receivedAt: 3_000 });
    assert.deepEqual(runAndKind(leased), [[(await detailsOf(scene, started.id)).no, "call"]]);
    assert.notEqual(await answerOf(scene, begun), null);
  });
}
