/** Many waits for one event, and many events before one wait: matched in bounded transactions, whole in the end. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Engine } from "../conformance/engine.ts";
import {
  advance,
  type Begun,
  begin,
  claimAll,
  makeScene,
  type Scene,
  sampleEnd,
  sampleLease,
  sampleRun,
  sampleStep,
  stepId,
} from "../conformance/run-samples.ts";
import { sampleBatch, sampleEvent } from "../conformance/samples.ts";
import {
  LOOK_BACK_EVENTS_MAX,
  type NewEvent,
  type NewWait,
  type Removal,
  WAITS_PER_EVENT_MAX,
  WAITS_PER_PART_MAX,
  WAITS_PER_TRANSACTION_MAX,
} from "../contract/index.ts";

const FAR = 9_000_000;

/** Runs that were leased, each started by an event with its number. */
async function beginMany(scene: Scene, count: number, changes: Partial<NewEvent> = {}): Promise<Begun[]> {
  const runs = Array.from({ length: count }, () => sampleRun(scene.functions[0]));
  const events = runs.map((run, n) => sampleEvent({ name: "begin", data: `{"n":${n}}`, ...changes, runs: [run] }));
  const begun: Begun[] = [];
  for (let at = 0; at < count; at += 200) {
    const batch = sampleBatch(scene.environment, events.slice(at, at + 200), { lease: sampleLease() });
    const { leased } = await scene.store.eventAppend(batch);
    for (const [index, entry] of leased.entries())
      begun.push({
        environmentId: scene.environment.id,
        run: runs[at + index] as Begun["run"],
        entry,
        runNo: entry.runNo as Begun["runNo"],
      });
  }
  return begun;
}

function wait(scene: Scene, begun: Begun, changes: Partial<NewWait> = {}) {
  const waiting: NewWait = {
    kind: "event",
    eventName: "answer",
    expression: null,
    match: null,
    stepId: stepId("wait"),
    since: 2_000,
    expiresAt: FAR,
    ...changes,
  };
  const step = sampleStep("wait", { kind: "wait", status: "waiting", until: FAR, detail: waiting.eventName });
  const entries = [{ kind: "resume", stepId: step.id, dueAt: FAR } as const];
  return advance(
    scene,
    begun,
    { status: "waiting", steps: [step], waits: [waiting], entries },
    { lease: sampleLease({ roomIn: () => 0 }) },
  );
}

const sameN = (n: number, changes: Partial<NewWait> = {}): Partial<NewWait> => ({
  expression: "same n",
  match: { path: "n", key: String(n) },
  ...changes,
});

function send({ store, environment }: Scene, data: string, receivedAt = 3_000) {
  const lease = sampleLease({ roomIn: () => 0 });
  return store.eventAppend(sampleBatch(environment, [sampleEvent({ name: "answer", data })], { receivedAt, lease }));
}

/** Events of the name, with numbers that no run has. */
async function sendMany(scene: Scene, count: number, receivedAt: number): Promise<void> {
  const { store, environment } = scene;
  const events = Array.from({ length: count }, (_, n) => sampleEvent({ name: "answer", data: `{"n":${1_000_000 + n}}` }));
  for (let at = 0; at < count; at += 500) await store.eventAppend(sampleBatch(environment, events.slice(at, at + 500), { receivedAt }));
}

/** One transaction of what is left. */
function proceed({ store, environment }: Scene) {
  return store.resumptionContinue({ environmentId: environment.id, eventName: "answer", now: 4_000 });
}

async function finish(scene: Scene): Promise<void> {
  for (let parts = 0; (await scene.store.resumptionList({ limit: 10 })).length > 0; parts++) {
    assert.ok(parts < 1_000, "it comes to an end");
    await proceed(scene);
  }
}

/** The data of the event that each run was resumed with. */
async function resumed(scene: Scene): Promise<Map<number, string | undefined>> {
  const { store, environment } = scene;
  const answers = new Map<number, string | undefined>();
  for (let more = true; more; ) {
    const batch = await store.queueClaimMany({ lane: "timers", limit: 500, now: 4_000, lease: sampleLease(), limits: [] });
    for (const { runNo, eventSequence, kind } of batch.claimed) {
      assert.ok(kind === "resume" && runNo !== null && eventSequence !== null);
      assert.ok(!answers.has(runNo), "once");
      answers.set(runNo, (await store.eventAt({ environmentId: environment.id, sequence: eventSequence }))?.data);
    }
    more = batch.more;
  }
  return answers;
}

export function resumptionConformance(engine: Engine): void {
  test(`${engine.name}: an event that many runs wait for ends the waits in bounded transactions, across a restart`, async (t) => {
    const { store, reopen } = await engine.open(t);
    const scene = await makeScene(store);
    const count = 2 * WAITS_PER_PART_MAX + 50;
    const begun = await beginMany(scene, count);
    await Promise.all(begun.map((one) => wait(scene, one)));
    let announced = 0;
    t.after(store.resumptionWatch(() => announced++));
    const { ids } = await send(scene, '{"n":1}');
    assert.equal(ids.length, 1);
    assert.ok(announced > 0, "this node is told to continue");
    assert.equal((await resumed(scene)).size, 0, "none in the transaction of the event");
    assert.deepEqual(await proceed(scene), { isOurs: true, waits: WAITS_PER_PART_MAX, isDone: false });
    const again = { ...scene, store: await reopen() };
    const key = { environmentId: scene.environment.id, eventName: "answer" };
    assert.deepEqual(await again.store.resumptionList({ limit: 10 }), [key], "what is left survives");
    const first = await resumed(again);
    assert.equal(first.size, WAITS_PER_PART_MAX);
    await finish(again);
    const rest = await resumed(again);
    assert.equal(first.size + rest.size, count);
    assert.deepEqual(
      [...rest.keys()].filter((runNo) => first.has(runNo)),
      [],
      "nothing twice",
    );
    assert.deepEqual((await send(again, '{"n":2}')).leased, []);
    assert.equal((await resumed(again)).size, 0, "nothing is left to resume");
  });

  test(`${engine.name}: of several events the first ends a wait, also while it still does so`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const count = WAITS_PER_EVENT_MAX + 10;
    const begun = await beginMany(scene, count);
    await Promise.all(begun.map((one) => wait(scene, one)));
    await send(scene, '{"first":true}');
    await send(scene, '{"second":true}');
    await finish(scene);
    const answers = await resumed(scene);
    assert.equal(answers.size, count);
    assert.deepEqual([...new Set(answers.values())], ['{"first":true}']);
  });

  test(`${engine.name}: however many waits earlier transactions examined, an event ends its waits at once`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const begun = await beginMany(scene, WAITS_PER_EVENT_MAX);
    await Promise.all(begun.map((one) => wait(scene, one, { expression: "same n" })));
    for (let examined = 0; examined <= WAITS_PER_TRANSACTION_MAX; examined += WAITS_PER_EVENT_MAX) await send(scene, '{"n":-1}');
    await send(scene, '{"n":1}');
    assert.deepEqual(await store.resumptionList({ limit: 10 }), []);
    assert.deepEqual([...(await resumed(scene))], [[begun[1]?.runNo, '{"n":1}']]);
  });

  test(`${engine.name}: while an event ends many waits, events of other names end theirs at once`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const begun = await beginMany(scene, WAITS_PER_EVENT_MAX + 11);
    const [other, ...many] = begun as [Begun, ...Begun[]];
    await Promise.all(many.map((one) => wait(scene, one)));
    await wait(scene, other, { eventName: "another" });
    await send(scene, "{}");
    const event = sampleEvent({ name: "another", data: '{"other":true}' });
    await store.eventAppend(sampleBatch(scene.environment, [event], { receivedAt: 3_000 }));
    assert.deepEqual([...(await resumed(scene))], [[other.runNo, '{"other":true}']]);
    await finish(scene);
    assert.equal((await resumed(scene)).size, many.length);
  });

  test(`${engine.name}: an event cancels many runs, each once`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const cancels: NewWait[] = [
      { kind: "cancel", eventName: "answer", expression: null, match: null, stepId: null, since: 0, expiresAt: FAR },
    ];
    const count = WAITS_PER_EVENT_MAX + 30;
    const runs = Array.from({ length: count }, () => sampleRun(scene.functions[0], { cancels }));
    await begin(scene, runs, { lease: sampleLease({ roomIn: () => 0 }) });
    await send(scene, "{}");
    await finish(scene);
    const entries = (await claimAll(scene, 4_000, "another", ["timers"])).filter(({ kind }) => kind === "cancel");
    assert.equal(new Set(entries.map(({ runNo }) => runNo)).size, count);
    assert.equal(entries.length, count);
  });

  test(`${engine.name}: a reply is found behind any number of other events, also beside waits of older steps`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const neighbours = 3 * LOOK_BACK_EVENTS_MAX + 20;
    const begun = await beginMany(scene, 15);
    await send(scene, '{"n":0}', 1_500);
    await sendMany(scene, neighbours, 1_600);
    for (let n = 5; n < 15; n++) await send(scene, `{"n":${n}}`, 1_900);
    const waiting = begun.map((one, n) => wait(scene, one, sameN(n, { since: n < 5 ? 1_500 : 1_800 })));
    await Promise.all(waiting);
    const atOnce = await resumed(scene);
    for (let n = 5; n < 15; n++) assert.equal(atOnce.get(begun[n]?.runNo as number), `{"n":${n}}`, "a recent reply is found at once");
    await finish(scene);
    const later = await resumed(scene);
    assert.deepEqual([...later], [[begun[0]?.runNo, '{"n":0}']], "an old one when everything was examined");
    await send(scene, '{"n":3}');
    assert.deepEqual([...(await resumed(scene)).values()], ['{"n":3}'], "the others still wait");
  });

  test(`${engine.name}: an event that arrives while a wait looks back ends it, once`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const [first, second] = (await beginMany(scene, 2)) as [Begun, Begun];
    await sendMany(scene, 2 * LOOK_BACK_EVENTS_MAX, 1_600);
    await wait(scene, first, sameN(0, { since: 1_500 }));
    await wait(scene, second, sameN(1, { since: 1_500 }));
    await proceed(scene);
    // Received before what was examined last, but stored after it.
    await send(scene, '{"n":0}', 1_550);
    await finish(scene);
    assert.deepEqual([...(await resumed(scene))], [[first.runNo, '{"n":0}']]);
    await send(scene, '{"n":1}');
    assert.deepEqual([...(await resumed(scene))], [[second.runNo, '{"n":1}']]);
  });

  test(`${engine.name}: waits that look back and events that arrive at the same time miss nothing`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const begun = await beginMany(scene, 30);
    await sendMany(scene, 2 * LOOK_BACK_EVENTS_MAX, 1_600);
    const acts = begun.flatMap((one, n) => {
      const both = [() => wait(scene, one, sameN(n, { since: 1_500 })), () => send(scene, `{"n":${n}}`, 1_700)];
      return n % 2 === 0 ? both : both.reverse();
    });
    await Promise.all([...acts.map((act) => act()), ...Array.from({ length: 5 }, () => proceed(scene))]);
    await finish(scene);
    assert.equal((await resumed(scene)).size, begun.length);
  });

  test(`${engine.name}: a run that ended while its wait was left concerns nobody`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const begun = await beginMany(scene, WAITS_PER_EVENT_MAX + 5);
    await Promise.all(begun.map((one) => wait(scene, one)));
    await send(scene, "{}");
    const [ended] = begun as [Begun];
    await advance(scene, ended, { end: sampleEnd() }, { entry: null });
    await finish(scene);
    const answers = await resumed(scene);
    assert.equal(answers.size, begun.length - 1);
    assert.ok(!answers.has(ended.runNo));
  });

  test(`${engine.name}: a wait is pending while events received before its end are left, and gets the event although it timed out`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const { environment } = scene;
    const begun = await beginMany(scene, WAITS_PER_EVENT_MAX + 5);
    const [first, over] = begun as [Begun, Begun];
    await Promise.all(begun.map((one) => wait(scene, one, one === over ? { expiresAt: 2_500 } : {})));
    const isPending = ({ runNo }: Begun) => store.waitIsPending({ environmentId: environment.id, runNo, stepId: stepId("wait") });
    assert.deepEqual([await isPending(first), await isPending(over)], [false, false]);
    await send(scene, "{}");
    assert.deepEqual([await isPending(first), await isPending(over)], [true, false]);
    const timers = { lane: "timers", limit: 500, now: FAR, lease: sampleLease(), limits: [] };
    const { claimed } = await store.queueClaimMany(timers);
    assert.equal(claimed.length, begun.length, "they time out");
    await finish(scene);
    assert.deepEqual([await isPending(first), (await resumed(scene)).size], [false, 0]);
    const entry = claimed.find(({ runNo }) => runNo === first.runNo);
    assert.ok(entry && entry.eventSequence === null);
    await store.queueReschedule({ ...entry, dueAt: 3_500 });
    assert.deepEqual([...(await resumed(scene))], [[first.runNo, "{}"]]);
  });

  test(`${engine.name}: a wait is pending while it looks back`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const [begun] = (await beginMany(scene, 1)) as [Begun];
    await sendMany(scene, 2 * LOOK_BACK_EVENTS_MAX, 1_600);
    await wait(scene, begun, sameN(0, { since: 1_500 }));
    const key = { environmentId: scene.environment.id, runNo: begun.runNo, stepId: stepId("wait") };
    assert.equal(await store.waitIsPending(key), true);
    await finish(scene);
    assert.equal(await store.waitIsPending(key), false);
  });

  test(`${engine.name}: an event stays until it has ended all of its waits`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const { environment } = scene;
    const begun = await beginMany(scene, WAITS_PER_PART_MAX + 5);
    await Promise.all(begun.map((one) => wait(scene, one)));
    const [id] = (await send(scene, "{}")).ids;
    const ended = await store.eventAppend(sampleBatch(environment, [sampleEvent({ name: "alone" })], { receivedAt: 3_000 }));
    // The newest event of the embedded store is never removed.
    await store.eventAppend(sampleBatch(environment, [sampleEvent()], { receivedAt: FAR + 1 }));
    while (!(await store.eventTypeCount({ limit: 1_000 })));
    const there = async (filters: { environmentId?: Scene["environment"]["id"]; name?: string } = {}) => {
      let after: string | null = null;
      do {
        const { next }: Removal = await store.eventExpireMany({ until: FAR, limit: 100, after, ...filters });
        after = next;
      } while (after !== null);
      return (await store.eventGet({ environmentId: environment.id, id: id as never })) !== null;
    };
    assert.equal(await there(), true);
    await proceed(scene);
    assert.equal(await there({ environmentId: environment.id }), true);
    assert.equal(await there({ environmentId: environment.id, name: "answer" }), true);
    assert.equal(await store.eventGet({ environmentId: environment.id, id: ended.ids[0] as never }), null, "others go");
    await finish(scene);
    assert.equal((await resumed(scene)).size, begun.length);
    for (const one of begun) await advance(scene, one, { end: sampleEnd() }, { entry: null });
    assert.equal(await there(), false);
  });
}
