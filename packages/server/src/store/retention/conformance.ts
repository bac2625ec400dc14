import assert from "node:assert/strict";
import { test } from "node:test";
import type { JobId, RunNo, WebhookId } from "@inlet/protocol";
import type { Engine } from "../conformance/engine.ts";
import {
  advance,
  type Begun,
  begin,
  beginOne,
  detailsOf,
  doneStep,
  makeScene,
  type Scene,
  sampleCall,
  sampleEnd,
  sampleLease,
  sampleRun,
} from "../conformance/run-samples.ts";
import { makeEnvironment, sampleBatch, sampleEvent } from "../conformance/samples.ts";
import type { Removal, RemovalParams, Store } from "../contract/index.ts";

/** Everything that is old enough, in small pieces; says how many were removed. */
async function removeAll(remove: (params: RemovalParams) => Promise<Removal>, until: number, limit = 2): Promise<number> {
  let [removed, after]: [number, string | null] = [0, null];
  do {
    const some = await remove({ until, after, limit });
    removed += some.removed;
    after = some.next;
  } while (after !== null);
  return removed;
}

/** Events are kept until they are counted. */
async function removeEvents(store: Store, until: number): Promise<number> {
  while (!(await store.eventTypeCount({ limit: 1_000 })));
  return removeAll(store.eventExpireMany, until);
}

async function end(scene: Scene, begun: Pick<Begun, "runNo" | "entry">, endedAt: number): Promise<void> {
  const attempt = { stepId: null, attempt: 0, startedAt: 1_500, endedAt: 1_600, httpStatus: 500, error: { name: "E", message: "m" } };
  await advance(
    scene,
    begun,
    { steps: [doneStep("a")], attempts: [attempt], call: sampleCall(), end: sampleEnd({ endedAt }) },
    { now: endedAt },
  );
}

export function retentionConformance(engine: Engine): void {
  test(`${engine.name}: old events are removed, newer ones stay`, async (t) => {
    const { store } = await engine.open(t);
    const environment = await makeEnvironment(store);
    const events = [1_000, 2_000, 3_000, 4_000, 5_000, 6_000].map((receivedAt) => ({
      receivedAt,
      event: sampleEvent({ dedupId: `d${receivedAt}` }),
    }));
    for (const { receivedAt, event } of events) await store.eventAppend(sampleBatch(environment, [event], { receivedAt }));
    assert.equal(await removeEvents(store, 3_000), 3);
    assert.equal(await removeEvents(store, 3_000), 0);
    const { events: left } = await store.eventList({ environmentId: environment.id, limit: 10 });
    assert.deepEqual(
      left.map(({ receivedAt }) => receivedAt),
      [6_000, 5_000, 4_000],
    );
    assert.equal(await store.eventGet({ environmentId: environment.id, id: events[0]?.event.id as never }), null);
    const again = await store.eventAppend(sampleBatch(environment, [sampleEvent({ dedupId: "d1000" })], { receivedAt: 7_000 }));
    assert.deepEqual([again.duplicates, again.ids], [1, [events[0]?.event.id]], "what was seen is known by its own window");
    const type = await store.eventTypeGet({ environmentId: environment.id, name: "shop/order.created", since: 0 });
    assert.equal(type?.count, 6, "what was counted stays counted");
  });

  test(`${engine.name}: the walk of an environment ends at an event that is not counted yet, so that the oldest go first`, async (t) => {
    const { store } = await engine.open(t);
    const environment = await makeEnvironment(store);
    const environmentId = environment.id;
    const append = (receivedAt: number) => store.eventAppend(sampleBatch(environment, [sampleEvent()], { receivedAt }));
    for (const receivedAt of [1_000, 2_000]) await append(receivedAt);
    while (!(await store.eventTypeCount({ limit: 1_000 })));
    for (const receivedAt of [3_000, 4_000, 5_000]) await append(receivedAt);
    const first = await store.eventExpireMany({ environmentId, until: 9_000, after: null, limit: 2 });
    assert.equal(first.removed, 2);
    assert.deepEqual(await store.eventExpireMany({ environmentId, until: 9_000, after: first.next, limit: 1 }), { removed: 0, next: null });
    while (!(await store.eventTypeCount({ limit: 1_000 })));
    assert.equal((await store.eventExpireMany({ environmentId, until: 9_000, after: null, limit: 2 })).removed, 2);
  });

  test(`${engine.name}: events of an environment are walked to the end, also when they were stored in another order than received`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const environmentId = scene.environment.id;
    // Events of unfinished runs stay.
    for (const receivedAt of [2_000, 2_500, 1_000]) await begin(scene, [sampleRun(scene.functions[0])], { receivedAt });
    for (const receivedAt of [2_600, 9_500]) await store.eventAppend(sampleBatch(scene.environment, [sampleEvent()], { receivedAt }));
    while (!(await store.eventTypeCount({ limit: 1_000 })));
    let pages = 0;
    const removed = await removeAll((params) => {
      assert.ok(++pages <= 5, "no row is walked twice");
      return store.eventExpireMany({ ...params, environmentId });
    }, 9_000);
    assert.equal(removed, 1);
  });

  test(`${engine.name}: numbers of events go on when all are old`, async (t) => {
    const { store, reopen } = await engine.open(t);
    const environment = await makeEnvironment(store);
    for (let n = 0; n < 3; n++) await store.eventAppend(sampleBatch(environment, [sampleEvent()]));
    const reached = await store.eventSequence({ environmentId: environment.id });
    await removeEvents(store, 9_000_000);
    const again = await reopen();
    await again.eventAppend(sampleBatch(environment, [sampleEvent({ data: '{"after":true}' })], { receivedAt: 9_000_001 }));
    const { events } = await again.eventFollow({ environmentId: environment.id, after: reached, limit: 10 });
    assert.deepEqual(
      events.map(({ data }) => data),
      ['{"after":true}'],
    );
  });

  test(`${engine.name}: an event stays while a run or a start needs it`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const { environment, functions } = scene;
    const [single, batched, ended] = [sampleEvent(), sampleEvent(), sampleEvent()];
    const lease = sampleLease();
    const append = (event: typeof single) => store.eventAppend(sampleBatch(environment, [event], { lease }));
    const [runEntry] = (await append({ ...single, runs: [sampleRun(functions[0])] })).leased;
    await append(batched);
    const starting = sampleEvent({ starts: [{ functionNo: functions[0], dueAt: 1_000 }] });
    const [startEntry] = (await append(starting)).leased;
    const endedRun = sampleRun(functions[0]);
    const [endedEntry] = (await append({ ...ended, runs: [endedRun] })).leased;
    assert.ok(runEntry?.runNo && endedEntry?.runNo && startEntry);
    const stored = await Promise.all([single, batched].map(({ id }) => store.eventGet({ environmentId: environment.id, id })));
    const eventSequences = stored.map((event) => event?.sequence ?? 0);
    const together = sampleRun(functions[1], { eventSequences });
    const { leased } = await store.runStart({
      environmentId: environment.id,
      eventSequence: eventSequences[0] ?? 0,
      run: together,
      now: 1_500,
      lease,
    });
    await end(scene, { entry: endedEntry, runNo: endedEntry.runNo }, 2_000);
    await append(sampleEvent());

    const there = async () => {
      await removeEvents(store, 9_000);
      const found = await Promise.all(
        [single, batched, starting, ended].map(({ id }) => store.eventGet({ environmentId: environment.id, id })),
      );
      return found.map((event) => event !== null);
    };
    assert.deepEqual(await there(), [true, true, true, false]);
    await advance(scene, { runNo: runEntry.runNo, entry: runEntry }, { end: sampleEnd() });
    assert.deepEqual(await there(), [true, true, true, false], "the other run goes on");
    await advance(scene, { runNo: leased[0]?.runNo as RunNo, entry: leased[0] as never }, { end: sampleEnd() });
    await store.queueRemove(startEntry);
    assert.deepEqual(await there(), [false, false, false, false]);
    assert.equal((await detailsOf(scene, together.id)).event, null, "a run is shown without it");
  });

  test(`${engine.name}: an event stays until it is copied to where it is mirrored`, async (t) => {
    const { store } = await engine.open(t);
    const environment = await makeEnvironment(store);
    const environmentId = environment.id;
    const mirror = { webhookId: "wh_1" as WebhookId, targets: [environmentId] };
    const event = sampleEvent();
    await store.eventAppend(sampleBatch(environment, [event], { mirror, receivedAt: 1_000 }));
    await store.eventAppend(sampleBatch(environment, [sampleEvent()], { receivedAt: 5_000 }));
    assert.equal(await removeEvents(store, 2_000), 0);
    await store.mirrorRemove({ environmentId, eventId: event.id });
    assert.equal(await removeEvents(store, 2_000), 1);
  });

  test(`${engine.name}: no run is started for an event that has been removed`, async (t) => {
    const { store } = await engine.open(t);
    const { environment, functions } = await makeScene(store);
    const environmentId = environment.id;
    const [old, young] = [sampleEvent(), sampleEvent()];
    for (const [event, receivedAt] of [
      [old, 1_000],
      [young, 5_000],
    ] as const)
      await store.eventAppend(sampleBatch(environment, [event], { receivedAt }));
    const { events } = await store.eventList({ environmentId, limit: 10 });
    const sequenceOf = ({ id }: typeof old) => events.find((event) => event.id === id)?.sequence ?? 0;
    assert.equal(await removeEvents(store, 1_000), 1);

    const [late, inTime] = [sampleRun(functions[0]), sampleRun(functions[0])];
    const start = (event: typeof old, run: typeof late) =>
      store.runStart({ environmentId, eventSequence: sequenceOf(event), run, now: 6_000, lease: sampleLease() });
    assert.deepEqual(await start(old, late), { isStarted: false, leased: [] });
    assert.equal((await start(young, inTime)).isStarted, true);

    const id = "01JOB" as JobId;
    const job = {
      kind: "events.replay",
      filter: "{}",
      functionId: null,
      items: [2, 1],
      listCursor: null,
      series: null,
      isScheduled: false,
      rate: 10,
      lease: null,
      createdAt: 6_000,
    };
    await store.jobInsert({ ...job, id, environmentId });
    await store.jobClaim({ node: "one", now: 6_000, until: 9_000, except: [], exceptKinds: [] });
    const replayed = [late, sampleRun(functions[1])].map((run) => ({ eventSequence: sequenceOf(old), run }));
    const starts = [...replayed, { eventSequence: sequenceOf(young), run: sampleRun(functions[0]) }];
    const batch = { after: 0, worked: 2, failures: [], starts, now: 6_000, until: 9_000 };
    const advanced = await store.jobAdvance({ ...batch, id, environmentId, node: "one" });
    assert.deepEqual([advanced?.status, advanced?.failed], ["completed", 1], "one event, which would have started two runs");
    assert.equal(advanced?.errors[0]?.message, "The event has been removed.");
    assert.equal((await store.runList({ environmentId, limit: 10 })).runs.length, 2);
  });

  test(`${engine.name}: what came since a gathering began stays until it is over`, async (t) => {
    const { store } = await engine.open(t);
    const { environment, functions } = await makeScene(store);
    const lease = sampleLease();
    const [before, first, second] = [sampleEvent(), sampleEvent({ starts: [{ functionNo: functions[0], dueAt: 1_000 }] }), sampleEvent()];
    await store.eventAppend(sampleBatch(environment, [before]));
    const [entry] = (await store.eventAppend(sampleBatch(environment, [first], { lease }))).leased;
    assert.ok(entry);
    const gather = { key: "batch:", dueAt: 50_000, since: entry.eventSequence ?? 0 };
    const start = { environmentId: environment.id, entry, functionNo: functions[0], marks: [], now: 1_000, lease };
    await store.functionStart({ ...start, decide: () => ({ gather }) });
    await store.eventAppend(sampleBatch(environment, [second]));
    await store.eventAppend(sampleBatch(environment, [sampleEvent()]));
    const there = async () => {
      await removeEvents(store, 9_000);
      return Promise.all(
        [before, first, second].map(async ({ id }) => (await store.eventGet({ environmentId: environment.id, id })) !== null),
      );
    };
    assert.deepEqual(await there(), [false, true, true]);
    const [due] = (await store.queueClaimMany({ lane: "timers", limit: 10, now: 50_000, lease, limits: [] })).claimed;
    assert.equal(due?.kind, "gather");
    await store.queueRemove(due);
    assert.deepEqual(await there(), [false, false, false]);
  });

  test(`${engine.name}: runs go after their end with all that is theirs, and never before it`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const [live, old, batch, young] = [await beginOne(scene), await beginOne(scene), await beginOne(scene), await beginOne(scene)];
    await end(scene, old, 2_000);
    await end(scene, young, 3_000);
    const sequences = (await store.eventList({ environmentId: scene.environment.id, limit: 10 })).events.map(({ sequence }) => sequence);
    const gathered = sampleRun(scene.functions[1], { eventSequences: sequences });
    const { leased } = await store.runStart({
      environmentId: scene.environment.id,
      eventSequence: sequences[0] ?? 0,
      run: gathered,
      now: 1_500,
      lease: sampleLease(),
    });
    await end(scene, { entry: leased[0] as never, runNo: leased[0]?.runNo as RunNo }, 2_000);
    await end(scene, batch, 2_000);
    await begin(scene, [sampleRun(scene.functions[0])]);

    assert.equal(await removeAll(store.runExpireMany, 2_000), 3);
    const found = (id: Begun["run"]["id"]) => store.runGet({ environmentId: scene.environment.id, id });
    assert.deepEqual(await Promise.all([old, batch].map(({ run }) => found(run.id))), [null, null]);
    assert.equal(await found(gathered.id), null);
    for (const { run } of [live, young]) assert.ok(await found(run.id));
    const eventId = (await store.eventAt({ environmentId: scene.environment.id, sequence: sequences[1] ?? 0 }))?.id;
    const { runs } = await store.runList({ environmentId: scene.environment.id, limit: 10, ...(eventId && { eventId }) });
    assert.ok(runs.every(({ id }) => id !== gathered.id));
    await end(scene, live, 2_500);
    assert.equal(await removeAll(store.runExpireMany, 2_500), 1);
    assert.equal((await detailsOf(scene, young.run.id)).steps.length, 1);
  });

  test(`${engine.name}: events of one environment, and of one name of it, are removed alone`, async (t) => {
    const { store } = await engine.open(t);
    const [here, there] = [await makeEnvironment(store), await makeEnvironment(store, "staging")];
    const send = (environment: typeof here, name: string, receivedAt: number) =>
      store.eventAppend(sampleBatch(environment, [sampleEvent({ name })], { receivedAt }));
    // Received in another order than stored.
    for (const at of [3_000, 1_000, 2_000, 9_000]) for (const name of ["a", "b"]) await send(here, name, at);
    for (const at of [1_000, 9_000]) await send(there, "a", at);
    while (!(await store.eventTypeCount({ limit: 1_000 })));
    const left = async ({ id }: typeof here) =>
      (await store.eventList({ environmentId: id, limit: 100 })).events.map(({ name, receivedAt }) => `${name}${receivedAt}`).sort();
    const expire = (params: object, until: number) => removeAll((page) => store.eventExpireMany({ ...page, ...params }), until, 1);
    assert.equal(await expire({ environmentId: here.id, name: "a" }, 2_000), 2);
    assert.equal(await expire({ environmentId: here.id, name: "never seen" }, 2_000), 0);
    assert.deepEqual(await left(here), ["a3000", "a9000", "b1000", "b2000", "b3000", "b9000"]);
    assert.equal(await expire({ environmentId: here.id }, 3_000), 4);
    assert.deepEqual(
      [await left(here), await left(there)],
      [
        ["a9000", "b9000"],
        ["a1000", "a9000"],
      ],
    );
  });

  test(`${engine.name}: runs of one environment are removed alone`, async (t) => {
    const { store } = await engine.open(t);
    const here = await makeScene(store);
    const there = { ...here, environment: await makeEnvironment(store, "staging") };
    const [ended, going, elsewhere] = [await beginOne(here), await beginOne(here), await beginOne(there)];
    await end(here, ended, 2_000);
    await end(there, elsewhere, 2_000);
    await beginOne(there);
    const expire = () => removeAll((page) => store.runExpireMany({ ...page, environmentId: here.environment.id }), 9_000, 1);
    assert.equal(await expire(), 1);
    assert.equal(await store.runGet({ environmentId: here.environment.id, id: ended.run.id }), null);
    assert.ok(await detailsOf(here, going.run.id), "it has not ended");
    assert.ok(await detailsOf(there, elsewhere.run.id), "it is of another environment");
  });

  test(`${engine.name}: how long things are kept is set by environment and by event type`, async (t) => {
    const { store, reopen } = await engine.open(t);
    const { id } = await makeEnvironment(store);
    const kept = async (from: Store) => (await from.environmentList()).find((environment) => environment.id === id)?.retention;
    assert.deepEqual(await kept(store), { eventsMs: null, runsMs: null, requestsMs: null });
    await store.environmentUpdate({ id, retention: { eventsMs: 60_000, requestsMs: 120_000 } });
    await store.environmentUpdate({ id, retention: { requestsMs: null } });
    const put = (name: string, retentionMs?: number | null) =>
      store.eventTypeSettingsPut({ environmentId: id, name, ...(retentionMs !== undefined && { retentionMs }) });
    await put("a", 60_000);
    await put("b", 70_000);
    assert.deepEqual(await put("a"), { environmentId: id, name: "a", retentionMs: 60_000 }, "what is not given stays");
    await put("b", null);
    const again = await reopen();
    assert.deepEqual(await kept(again), { eventsMs: 60_000, runsMs: null, requestsMs: null });
    assert.deepEqual(await again.eventTypeSettingsList(), [
      { environmentId: id, name: "a", retentionMs: 60_000 },
      { environmentId: id, name: "b", retentionMs: null },
    ]);
    assert.ok((await again.retentionUsedBytes()) > 0);
  });
}
