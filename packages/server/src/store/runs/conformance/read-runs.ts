import assert from "node:assert/strict";
import { test } from "node:test";
import { createEventIdGenerator, type EventId, type RunId } from "@inlet/protocol";
import type { Engine } from "../../conformance/engine.ts";
import {
  advance,
  begin,
  beginOne,
  claimAll,
  detailsOf,
  makeScene,
  NO_ROOM,
  type Scene,
  sampleEnd,
  sampleLease,
  sampleRun,
  stepId,
} from "../../conformance/run-samples.ts";
import { makeEnvironment, sampleBatch, sampleEvent } from "../../conformance/samples.ts";
import { RUN_STATUSES, type RunListParams, type RunStatus } from "../../contract/index.ts";

type Filters = Omit<RunListParams, "environmentId" | "limit" | "after">;

interface Known {
  id: RunId;
  status: RunStatus;
  functionNo: Scene["functions"][0];
  createdAt: number;
  eventId: EventId;
}

/** Runs of two functions in every status, two in each instant from `since` on; newest first. */
async function fill(scene: Scene, since = 1_000): Promise<Known[]> {
  // Of its own: ids of one generator only grow, and would have the times of earlier tests in the process.
  const runIds = createEventIdGenerator();
  const known: Known[] = [];
  for (let n = 0; n < 42; n++) {
    const createdAt = since + Math.floor(n / 2);
    const functionNo = scene.functions[n % 3 === 0 ? 1 : 0];
    const status = RUN_STATUSES[n % RUN_STATUSES.length] as RunStatus;
    const event = sampleEvent();
    const run = sampleRun(functionNo, { id: runIds.next(createdAt) as string as RunId, dueAt: createdAt });
    const batch = sampleBatch(scene.environment, [{ ...event, runs: [run] }], { receivedAt: createdAt, lease: sampleLease() });
    const [entry] = (await scene.store.eventAppend(batch)).leased;
    assert.ok(entry?.runNo);
    const isEnd = status === "completed" || status === "failed" || status === "cancelled";
    await advance(scene, { runNo: entry.runNo, entry }, isEnd ? { end: sampleEnd({ status }) } : { status, entry: "keep" });
    known.unshift({ id: run.id, status, functionNo, createdAt, eventId: event.id });
  }
  return known;
}

async function readAll({ store, environment }: Scene, filters: Filters, limit: number): Promise<{ ids: RunId[]; pages: number }> {
  const ids: RunId[] = [];
  let pages = 0;
  for (let after: RunId | null | undefined; after !== null; pages++) {
    const page = await store.runList({ environmentId: environment.id, limit, ...(after && { after }), ...filters });
    assert.ok(page.runs.length <= limit);
    ids.push(...page.runs.map(({ id }) => id));
    after = page.next;
  }
  return { ids, pages };
}

export function runReadConformance(engine: Engine): void {
  test(`${engine.name}: runs are listed newest first, pages neither repeat nor skip, every filter alone and together`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const elsewhere = await makeEnvironment(store, "staging");
    const known = await fill(scene);
    await begin({ ...scene, environment: elsewhere }, [sampleRun(scene.functions[0])]);
    const [first, second] = scene.functions;
    const statuses = [undefined, ...RUN_STATUSES];
    const functionSets = [undefined, [first], [second], [first, second], []];
    const times = [{}, { from: 1_005 }, { to: 1_012 }, { from: 1_005, to: 1_012 }];
    for (const status of statuses) {
      for (const functionNos of functionSets) {
        for (const { from, to } of times as { from?: number; to?: number }[]) {
          const expected = known.filter(
            (run) =>
              (status === undefined || run.status === status) &&
              (functionNos === undefined || functionNos.includes(run.functionNo)) &&
              run.createdAt >= (from ?? 0) &&
              run.createdAt < (to ?? Number.POSITIVE_INFINITY),
          );
          const filters = { ...(status && { status }), ...(functionNos && { functionNos }), ...(from && { from }), ...(to && { to }) };
          for (const limit of [4, 100]) {
            const { ids, pages } = await readAll(scene, filters, limit);
            assert.deepEqual(
              ids,
              expected.map(({ id }) => id),
              JSON.stringify({ ...filters, limit }),
            );
            assert.equal(pages, Math.max(1, Math.ceil(expected.length / limit)), "the last page says that it is the last");
          }
        }
      }
    }
  });

  test(`${engine.name}: a run shows the time by which it is filtered, that of its id, also if it was stored later`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const run = sampleRun(scene.functions[0], { id: createEventIdGenerator().next(70_000) as string as RunId });
    await begin(scene, [run], { receivedAt: 70_029 });
    const { environment, functions } = scene;
    const span = { environmentId: environment.id, from: 70_000, to: 70_001, limit: 10 };
    const times = (runs: readonly { createdAt: number }[]) => runs.map(({ createdAt }) => createdAt);
    assert.deepEqual(times((await store.runList(span)).runs), [70_000]);
    assert.deepEqual(times(await store.runTimings({ ...span, functionNos: functions })), [70_000]);
    assert.equal((await detailsOf(scene, run.id)).createdAt, 70_000);
  });

  test(`${engine.name}: runs are listed by their ids, as far as they exist, with further filters`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const known = (await fill(scene, 5_000)).slice(0, RUN_STATUSES.length);
    const ids = [...known.map(({ id }) => id), createEventIdGenerator().next(4_000) as string as RunId];
    assert.deepEqual((await readAll(scene, { ids }, 3)).ids, ids.slice(0, -1));
    for (const status of RUN_STATUSES) {
      const [wanted] = known.filter((run) => run.status === status);
      assert.ok(wanted);
      assert.deepEqual((await readAll(scene, { ids, status, functionNos: [wanted.functionNo] }, 3)).ids, [wanted.id]);
    }
  });

  test(`${engine.name}: runs are listed by whether they were rerun since`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const known = (await fill(scene)).map(({ id }) => id);
    const [a, b] = [known[30] as RunId, known[10] as RunId];
    // Of one, and of a rerun of the other.
    const reruns = [a, b, b].map((originalRunId, n) => sampleRun(scene.functions[0], { originalRunId, dueAt: 2_000 + n }));
    await begin(scene, reruns);
    const [ofA, first, last] = reruns.map(({ id }) => id);
    for (const limit of [2, 100]) {
      assert.deepEqual((await readAll(scene, { rerun: true }, limit)).ids, [first, b, a]);
      const others = known.filter((id) => id !== a && id !== b);
      assert.deepEqual((await readAll(scene, { rerun: false }, limit)).ids, [last, ofA, ...others]);
      assert.deepEqual((await readAll(scene, { rerun: true, ids: [a, known[0] as RunId] }, limit)).ids, [a]);
      assert.deepEqual((await readAll(scene, { rerun: true, to: 1_500 }, limit)).ids, [b, a]);
    }
  });

  test(`${engine.name}: the runs of an event`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    await fill(scene);
    const runs = scene.functions.map((no) => sampleRun(no));
    const event = sampleEvent({ runs });
    await store.eventAppend(sampleBatch(scene.environment, [event]));
    const { ids } = await readAll(scene, { eventId: event.id }, 1);
    assert.deepEqual(ids.sort(), runs.map(({ id }) => id).sort());
    assert.deepEqual((await readAll(scene, { eventId: event.id, status: "queued", functionNos: [scene.functions[0]] }, 5)).ids, [
      runs[0]?.id,
    ]);
    assert.deepEqual((await readAll(scene, { eventId: event.id, status: "failed" }, 5)).ids, []);
    assert.deepEqual((await readAll(scene, { eventId: "nothing" as EventId }, 5)).ids, []);
  });

  test(`${engine.name}: every event of a batch leads to its run`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const events = [sampleEvent(), sampleEvent(), sampleEvent()];
    await store.eventAppend(sampleBatch(scene.environment, events));
    const { events: stored } = await store.eventFollow({ environmentId: scene.environment.id, after: 0, limit: 10 });
    const eventSequences = stored.map(({ sequence }) => sequence);
    const run = sampleRun(scene.functions[0], { eventSequences });
    await store.runStart({
      environmentId: scene.environment.id,
      eventSequence: eventSequences[0] as number,
      run,
      now: 1_000,
      lease: sampleLease(),
    });
    for (const { id } of events) assert.deepEqual((await readAll(scene, { eventId: id }, 5)).ids, [run.id]);
    const eventIds = events.map(({ id }) => id);
    assert.deepEqual(
      (await store.runCountByEvent({ environmentId: scene.environment.id, eventIds })).sort((a, b) => (a.eventId < b.eventId ? -1 : 1)),
      eventIds.sort().map((eventId) => ({ eventId, counts: { running: 1 } })),
    );
  });

  test(`${engine.name}: runs are counted by event and status; events without runs are left out`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const runs = [sampleRun(scene.functions[0]), sampleRun(scene.functions[1]), sampleRun(scene.functions[0])];
    const event = sampleEvent({ runs });
    const alone = sampleEvent();
    const { leased } = await store.eventAppend(sampleBatch(scene.environment, [event, alone], { lease: sampleLease() }));
    const [entry] = leased;
    assert.ok(entry?.runNo);
    await advance(scene, { runNo: entry.runNo, entry }, { end: sampleEnd({ status: "failed" }) });
    const count = (eventIds: EventId[], environmentId = scene.environment.id) => store.runCountByEvent({ environmentId, eventIds });
    assert.deepEqual(await count([event.id, alone.id, "nothing" as EventId]), [{ eventId: event.id, counts: { failed: 1, running: 2 } }]);
    const elsewhere = await makeEnvironment(store, "staging");
    assert.deepEqual(await count([event.id], elsewhere.id), []);
  });

  test(`${engine.name}: timings are those of the newest runs of functions, in a span of time`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const known = await fill(scene, 50_000);
    const [first, second] = scene.functions;
    const read = async (functionNos: readonly Known["functionNo"][], from: number, to: number, limit = 100) => {
      const found = await store.runTimings({ environmentId: scene.environment.id, functionNos, from, to, limit });
      return found.map(({ createdAt, status }) => `${createdAt} ${status}`).sort();
    };
    const expected = (runs: Known[]) => runs.map(({ createdAt, status }) => `${createdAt} ${status}`).sort();
    const inSpan = ({ createdAt }: Known) => createdAt >= 50_005 && createdAt < 50_012;
    assert.deepEqual(await read([first, second], 50_005, 50_012), expected(known.filter(inSpan)));
    assert.deepEqual(await read([second], 0, 99_999), expected(known.filter(({ functionNo }) => functionNo === second)));
    assert.deepEqual(await read([first, second], 0, 99_999, 4), expected(known.slice(0, 4)));
    const ended = (
      await store.runTimings({ environmentId: scene.environment.id, functionNos: [first], from: 0, to: 99_999, limit: 100 })
    ).filter(({ status }) => status === "failed");
    assert.ok(ended.length > 0 && ended.every(({ endedAt }) => endedAt === 2_000));
  });

  test(`${engine.name}: ends of runs are counted by function, status and time`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const known = await fill(scene, 50_000);
    const [functionNo] = scene.functions;
    const { id: environmentId } = scene.environment;
    const count = (status: "failed" | "completed", since: number, limit = 100) =>
      store.runEndCount({ environmentId, functionNo, status, since, limit });
    const ended = (status: string) => known.filter((run) => run.functionNo === functionNo && run.status === status).length;
    assert.ok(ended("failed") > 1 && ended("completed") > 0);
    for (const status of ["failed", "completed"] as const) {
      assert.deepEqual(await count(status, 2_000), { count: ended(status), countedFrom: 2_000 });
      assert.deepEqual(await count(status, 0), { count: ended(status), countedFrom: 0 });
      assert.deepEqual(await count(status, 2_001), { count: 0, countedFrom: 2_001 });
      assert.deepEqual(await count(status, 0, 1), { count: 1, countedFrom: 2_000 }, "those that ended before it are not looked at");
      assert.deepEqual(await count(status, 2_001, 1), { count: 0, countedFrom: 2_001 });
    }
  });

  test(`${engine.name}: a summary has the event's preview and trace, the error and the number of failed attempts`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const { entry, run: begun, runNo } = await beginOne(scene, {}, { trace, data: `{"order":4711,"note":"${"x".repeat(500)}"}` });
    const error = { name: "TypeError", message: "declined", stack: "at charge" };
    const failure = { stepId: null, attempt: 0, startedAt: 1, endedAt: 2, httpStatus: 500, error };
    await advance(
      scene,
      { runNo, entry },
      { attempts: [failure, { ...failure, attempt: 1 }, { ...failure, stepId: stepId("s") }], end: sampleEnd({ status: "failed", error }) },
    );
    const [run] = (await store.runList({ environmentId: scene.environment.id, limit: 5 })).runs;
    assert.deepEqual([run?.error, run?.failedAttempts], [error, 2]);
    assert.match(run?.event?.preview ?? "", /^\{"order":4711,"note":"x{138}$/);
    const { id: untraced } = (await beginOne(scene)).run;
    const details = [begun.id, untraced].map((id) => store.runGet({ environmentId: scene.environment.id, id }));
    assert.deepEqual([run?.trace, ...(await Promise.all(details)).map((one) => one?.trace)], [trace, trace, null]);
  });

  test(`${engine.name}: who watches is notified which runs were begun and changed, once it is so`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const notified: number[] = [];
    const stopWatching = store.runWatch((runNos) => notified.push(...runNos));
    const { entry, run, runNo } = await beginOne(scene);
    const { runs } = await store.runList({ environmentId: scene.environment.id, limit: 1 });
    assert.deepEqual([notified.splice(0), runs.map(({ id }) => id)], [[runNo], [run.id]]);
    await assert.rejects(begin(scene, [sampleRun(scene.functions[0]), run]));
    assert.deepEqual(notified, [], "what was rolled back did not happen");
    await advance(scene, { runNo, entry }, { end: sampleEnd() });
    assert.deepEqual(notified.splice(0), [runNo]);
    await begin(scene, [sampleRun(scene.functions[0])], { lease: NO_ROOM });
    notified.length = 0;
    const [claimed] = await claimAll(scene, 1_000);
    assert.deepEqual(notified.splice(0), [claimed?.runNo], "it begins when it is claimed");
    stopWatching();
    await beginOne(scene);
    assert.deepEqual(notified, []);
  });

  test(`${engine.name}: summaries of some runs, in their environment`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const elsewhere = await makeEnvironment(store, "staging");
    const [first, second] = [await beginOne(scene), await beginOne({ ...scene, environment: elsewhere })];
    const runNos = [first.runNo, second.runNo, 999 as typeof first.runNo];
    const found = await store.runSummaries({ environmentId: scene.environment.id, runNos });
    assert.deepEqual(found, (await store.runList({ environmentId: scene.environment.id, limit: 5 })).runs);
    assert.deepEqual(
      found.map(({ id }) => id),
      [first.run.id],
    );
  });

  test(`${engine.name}: a run is found by its id, in its environment or in any`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const elsewhere = await makeEnvironment(store, "staging");
    const run = sampleRun(scene.functions[0]);
    await begin({ ...scene, environment: elsewhere }, [run], { event: { name: "odd/\ud800" } });
    assert.equal(await store.runGet({ environmentId: scene.environment.id, id: run.id }), null);
    assert.equal((await store.runFind({ id: run.id }))?.environmentId, elsewhere.id);
    assert.equal((await store.runFind({ id: run.id, environmentId: elsewhere.id }))?.environmentId, elsewhere.id);
    assert.equal(await store.runFind({ id: run.id, environmentId: scene.environment.id }), null);
    assert.equal(await store.runFind({ id: "nothing" as RunId }), null);
    const details = await detailsOf({ ...scene, environment: elsewhere }, run.id);
    assert.equal(details.event?.name, "odd/\ud800");
    assert.deepEqual([details.output, details.error, details.steps, details.attempts], [null, null, [], []]);
  });
}
