import assert from "node:assert/strict";
import { test } from "node:test";
import type { Engine } from "../conformance/engine.ts";
import {
  advance,
  type Begun,
  beginOne,
  detailsOf,
  doneStep,
  makeScene,
  type Scene,
  sampleCall,
  sampleEnd,
  sampleLease,
  sampleRun,
  sampleStep,
  stepId,
} from "../conformance/run-samples.ts";
import { sampleBatch, sampleEvent } from "../conformance/samples.ts";
import type { ClaimedEntry, ErasureOutcome, EventEraseParams, FunctionStartChange, KeptStep, NewEvent } from "../contract/index.ts";

const NOTHING_LEFT = { unfinished: [], calling: [], deciding: 0 };
const RESUME = { kind: "resume", stepId: stepId("s"), dueAt: 90_000 } as const;

async function erase({ store, environment }: Scene, { id }: Pick<NewEvent, "id">, changes: Partial<EventEraseParams> = {}) {
  const event = await store.eventGet({ environmentId: environment.id, id });
  const sequences = [event?.sequence as number];
  return leftOf(await store.eventErase({ environmentId: environment.id, sequences, gatheringWithout: () => null, ...changes }));
}

/** What the erasure still waits for. */
function leftOf({ unfinished, calling, deciding }: ErasureOutcome) {
  return { unfinished, calling, deciding };
}

async function dataOf({ store, environment }: Scene, { id }: Pick<NewEvent, "id">): Promise<string | undefined> {
  return (await store.eventGet({ environmentId: environment.id, id }))?.data;
}

/** A run whose step "s" invokes another function with an event, which may name the run, and waits for it. */
async function invoke(scene: Scene, made: NewEvent | ((parent: Begun) => NewEvent)) {
  const event = sampleEvent();
  const parent = await beginOne(scene, {}, event);
  const invocation = typeof made === "function" ? made(parent) : made;
  const step = sampleStep("s", { kind: "invoke", status: "waiting", eventId: invocation.id });
  const events = [sampleBatch(scene.environment, [invocation], { source: { kind: "internal", id: "executor" } })];
  const call = sampleCall({ answer: invocation.data });
  const { leased } = await advance(scene, parent, { status: "waiting", steps: [doneStep("a"), step], entries: [RESUME], events, call });
  return { parent, event, step, leased };
}

/** Starts the run's function again with this step. */
async function rerun({ store, environment, functions }: Scene, { runNo }: Begun, step: KeptStep): Promise<Begun> {
  const environmentId = environment.id;
  const [{ eventSequence } = { eventSequence: 0 }] = await store.runSummaries({ environmentId, runNos: [runNo] });
  const run = sampleRun(functions[0], { steps: [step] });
  const { leased } = await store.runStart({ environmentId, eventSequence, run, now: 3_000, lease: sampleLease() });
  const entry = leased[0] as ClaimedEntry;
  return { environmentId, run, entry, runNo: entry.runNo as Begun["runNo"] };
}

export function erasureConformance(engine: Engine): void {
  test(`${engine.name}: events are erased with what they led to, once their runs have ended`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const environmentId = scene.environment.id;
    const begun = await beginOne(scene);
    const { events } = await store.eventList({ environmentId, limit: 10 });
    const sequences = events.map(({ sequence }) => sequence);
    const untouched = events[0]?.data;
    const eraseAll = async () => leftOf(await store.eventErase({ environmentId, sequences, gatheringWithout: () => null }));
    assert.deepEqual((await eraseAll()).unfinished, [begun.runNo]);
    assert.equal((await store.eventList({ environmentId, limit: 10 })).events[0]?.data, untouched, "nothing was erased");

    const call = sampleCall({
      answer: '"secret"',
      logs: { lines: [{ at: 1, level: "info", message: "secret", stepId: null }], dropped: 0 },
    });
    await advance(scene, begun, { steps: [doneStep("a")], call, end: sampleEnd({ output: '{"secret":1}' }) });
    assert.deepEqual(await eraseAll(), NOTHING_LEFT);
    await store.erasureSettle({ environmentId });
    const [erased] = (await store.eventList({ environmentId, limit: 10 })).events;
    assert.deepEqual([erased?.id, erased?.name, erased?.data, erased?.extras], [events[0]?.id, events[0]?.name, "{}", null]);
    const run = await detailsOf(scene, begun.run.id);
    assert.deepEqual([run.output, run.steps[0]?.value, run.calls[0]?.answer, run.calls[0]?.logs], ["null", "null", null, null]);
    assert.deepEqual([run.steps[0]?.id, run.status, run.calls[0]?.answerLength], ["a", "completed", call.answerLength]);
    assert.deepEqual(await eraseAll(), NOTHING_LEFT, "twice does no harm");
  });

  test(`${engine.name}: responses to requests with idempotency keys that name an erased event are forgotten, others stay`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const events = [sampleEvent(), sampleEvent()] as const;
    await store.eventAppend(sampleBatch(scene.environment, [...events]));
    const claim = (key: string) =>
      store.idempotencyClaim({ owner: "key_1", key, fingerprint: "f", startedAt: 1, abandonedUntil: 0, forgottenUntil: 0 });
    for (const { id } of events) {
      await claim(id);
      await store.idempotencyResponse({ owner: "key_1", key: id, status: 201, body: `{"data":{"ids":["${id}"]}}` });
    }
    assert.deepEqual(await erase(scene, events[0]), NOTHING_LEFT);
    const known = await Promise.all(events.map(async ({ id }) => (await claim(id)) !== null));
    assert.deepEqual(known, [false, true]);
  });

  test(`${engine.name}: realtime messages of an erased run are removed, those of others stay`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const environmentId = scene.environment.id;
    const event = sampleEvent();
    const begun = await beginOne(scene, {}, event);
    const message = (runId: string | null) => ({ channel: "user:1", topic: "status", text: "{}", runId });
    await store.realtimePublish({ environmentId, messages: [message(begun.run.id), message(null)], now: 2_000 });
    await advance(scene, begun, { end: sampleEnd() });
    assert.deepEqual(await erase(scene, event), NOTHING_LEFT);
    const kept = async (number: number) => (await store.realtimeKept({ environmentId, numbers: [number], publishedAfter: 0 })).length > 0;
    assert.deepEqual([await kept(1), await kept(2)], [false, true]);
  });

  test(`${engine.name}: an erased event starts nothing any more, alone or among others`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const environmentId = scene.environment.id;
    const functionNo = scene.functions[0];
    const requested = async () => {
      const event = sampleEvent({ starts: [{ functionNo, dueAt: 1_000 }] });
      const { leased } = await store.eventAppend(sampleBatch(scene.environment, [event], { lease: sampleLease() }));
      return leased[0] as ClaimedEntry;
    };
    const start = (entry: ClaimedEntry, change: FunctionStartChange) =>
      store.functionStart({ environmentId, entry, functionNo, marks: [], now: 2_000, lease: sampleLease(), decide: () => change });
    const gatheringWithout = (value: string, gone: ReadonlySet<number>) => {
      const left = (JSON.parse(value) as number[]).filter((one) => !gone.has(one));
      return left.length === 0 ? null : JSON.stringify(left);
    };
    const [gathering, alone] = [await requested(), await requested()];
    const sequence = alone.eventSequence as number;
    const marks = (["batch", "debounce", "singleton"] as const).map((kind) => ({ kind, key: "k", expiresAt: 9_000 }));
    const values = [`[${sequence},987654]`, `[${sequence}]`, String(sequence)];
    await start(gathering, { marks: marks.map((mark, i) => ({ ...mark, value: values[i] as string })) });

    assert.deepEqual(leftOf(await store.eventErase({ environmentId, sequences: [sequence], gatheringWithout })), NOTHING_LEFT);
    assert.equal((await start(alone, {})).applied, false, "whoever was deciding comes too late");
    const kept = await Promise.all(marks.map(({ kind, key }) => store.markGet({ environmentId, functionNo, kind, key })));
    assert.deepEqual(kept, ["[987654]", null, String(sequence)]);
  });

  test(`${engine.name}: an undecided start of an invocation is decided before its event is erased, unless nobody waits for it any more`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const starts = [{ functionNo: scene.functions[1], dueAt: 1_000 }];
    const [first, second] = [sampleEvent({ starts }), sampleEvent({ starts })];
    const start = ({ environmentId, functionNo, ...entry }: ClaimedEntry) =>
      store.functionStart({ environmentId, entry, functionNo, marks: [], now: 2_000, lease: sampleLease(), decide: () => ({}) });
    const { leased } = await invoke(scene, first);
    assert.deepEqual(await erase(scene, first), { ...NOTHING_LEFT, deciding: 1 });
    assert.equal(await dataOf(scene, first), first.data);
    assert.ok((await start(leased[0] as ClaimedEntry)).applied);
    assert.deepEqual(await erase(scene, first), NOTHING_LEFT);

    const { parent, event, leased: undecided } = await invoke(scene, second);
    assert.deepEqual(await erase(scene, event), { ...NOTHING_LEFT, unfinished: [parent.runNo], deciding: 1 });
    await advance(scene, parent, { end: sampleEnd({ status: "cancelled" }) }, { entry: null });
    assert.deepEqual(await erase(scene, event), NOTHING_LEFT);
    assert.equal(await dataOf(scene, second), "{}", "the copy in the invocation");
    assert.equal((await start(undecided[0] as ClaimedEntry)).applied, false);
  });

  test(`${engine.name}: the result of an erased run is erased in the run that invoked it, which goes on`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const invocation = sampleEvent({ data: '{"secret":1}' });
    const { parent, event, step, ...begun } = await invoke(scene, ({ runNo }) => ({
      ...invocation,
      runs: [sampleRun(scene.functions[1], { invoker: { runNo, stepId: RESUME.stepId } })],
    }));
    const entry = begun.leased[0] as ClaimedEntry;
    const runNo = entry.runNo as Begun["runNo"];
    const { leased } = await advance(scene, { runNo, entry }, { end: sampleEnd({ output: '"secret"' }) });
    assert.deepEqual(await erase(scene, invocation), { ...NOTHING_LEFT, calling: [runNo] }, "its result is on the way");
    const done = { ...doneStep("s", '{"data":"secret"}'), kind: "invoke" as const };
    await advance(scene, { runNo: parent.runNo, entry: leased[0] as ClaimedEntry }, { steps: [done], settled: [step.id] });
    assert.deepEqual(await erase(scene, invocation), NOTHING_LEFT);
    const { steps, calls, status } = await detailsOf(scene, parent.run.id);
    assert.deepEqual([steps.map(({ value }) => value), calls[0]?.answer], [['{"data":"a"}', '{"data":null}'], null]);
    assert.notEqual(status, "cancelled");
    assert.equal(await dataOf(scene, event), event.data);
  });

  test(`${engine.name}: a run that an event resumed is erased with it`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const started = sampleEvent();
    const begun = await beginOne(scene, { order: { key: "hash", text: "secret" } }, started);
    const step = sampleStep("s", { kind: "wait", status: "waiting" });
    const wait = {
      kind: "event",
      eventName: "answer",
      expression: null,
      match: null,
      stepId: step.id,
      since: 0,
      expiresAt: 90_000,
    } as const;
    await advance(scene, begun, { status: "waiting", steps: [step], waits: [wait], entries: [RESUME] });
    const answer = sampleEvent({ name: "answer", data: '{"secret":1}' });
    const { leased } = await store.eventAppend(sampleBatch(scene.environment, [answer], { receivedAt: 3_000, lease: sampleLease() }));
    assert.deepEqual((await erase(scene, answer)).unfinished, [begun.runNo], "it is about to receive the event");
    const done = { ...step, status: "completed" as const, endedAt: 3_000, value: answer.data, eventId: answer.id };
    await advance(scene, { ...begun, entry: leased[0] as ClaimedEntry }, { steps: [done], settled: [step.id] });
    assert.deepEqual((await erase(scene, answer)).unfinished, [begun.runNo]);
    const again = await rerun(scene, begun, done);
    const { unfinished } = await erase(scene, answer);
    assert.deepEqual(new Set(unfinished), new Set([begun.runNo, again.runNo]), "a rerun keeps the results of steps");
    await advance(scene, again, { end: sampleEnd() });
    const end = sampleEnd({ status: "failed" });
    const deferred = sampleEvent({ name: "inngest/deferred.schedule", data: `{"secret":1,"parent_run_id":"${begun.run.id}"}` });
    const events = [sampleBatch(scene.environment, [deferred], { receivedAt: end.endedAt })];
    await advance(scene, begun, { end, holdsOrder: true, events }, { entry: null });
    assert.deepEqual(await erase(scene, answer), NOTHING_LEFT);
    assert.equal(await dataOf(scene, deferred), "{}", "what it deferred");
    const { steps, orderKey, output } = await detailsOf(scene, begun.run.id);
    assert.deepEqual([steps[0]?.value, steps[0]?.eventId, orderKey, output], ["null", answer.id, null, "null"]);
    assert.equal(await dataOf(scene, started), started.data, "the event that started it stays");
    const { holds } = await store.orderHoldList({ environmentId: scene.environment.id, limit: 10 });
    assert.deepEqual(
      holds.map(({ key, runId }) => [key, runId]),
      [[null, begun.run.id]],
    );
  });
}
