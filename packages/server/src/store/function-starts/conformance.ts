import assert from "node:assert/strict";
import { test } from "node:test";
import type { RunNo } from "@inlet/protocol";
import type { Engine } from "../conformance/engine.ts";
import {
  advance,
  beginOne,
  claimAll,
  detailsOf,
  makeScene,
  NODE,
  type Scene,
  sampleEnd,
  sampleLease,
  sampleRun,
  stepId,
} from "../conformance/run-samples.ts";
import { sampleBatch, sampleEvent } from "../conformance/samples.ts";
import type {
  ClaimedEntry,
  ExpiredMark,
  FunctionStartChange,
  FunctionStartState,
  MarkKey,
  NewRun,
  StoredEvent,
} from "../contract/index.ts";

const KEY: MarkKey = { kind: "rate", key: "k" };

/** An event that asks for a start: its entry, leased over, and the event as it was stored. */
async function request({ store, environment, functions }: Scene): Promise<{ entry: ClaimedEntry; event: StoredEvent }> {
  const starts = [{ functionNo: functions[0], dueAt: 1_000 }];
  const { leased } = await store.eventAppend(sampleBatch(environment, [sampleEvent({ starts })], { lease: sampleLease() }));
  const [entry] = leased;
  assert.ok(entry);
  const event = await store.eventAt({ environmentId: environment.id, sequence: entry.eventSequence ?? 0 });
  assert.ok(event);
  return { entry, event };
}

function start(
  { store }: Scene,
  entry: ClaimedEntry,
  decide: FunctionStartChange | ((state: FunctionStartState) => FunctionStartChange),
  marks: MarkKey[] = [KEY],
  needed: number[] = [],
) {
  const { environmentId, functionNo } = entry;
  const decided = typeof decide === "function" ? decide : () => decide;
  const asked = { environmentId, entry, functionNo, marks, eventsNeeded: () => needed };
  return store.functionStart({ ...asked, now: 2_000, lease: sampleLease(), decide: decided });
}

function markOf({ store, environment, functions }: Scene, { kind, key }: MarkKey, functionNo = functions[0]): Promise<string | null> {
  return store.markGet({ environmentId: environment.id, functionNo, kind, key });
}

export function functionStartConformance(engine: Engine): void {
  test(`${engine.name}: a request for a start is written with its event, and not for a duplicate`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const { entry, event } = await request(scene);
    assert.deepEqual([entry.kind, entry.runNo, entry.functionNo, entry.eventSequence], ["start", null, scene.functions[0], event.sequence]);
    const { event: decided, entry: other } = await request(scene);
    const [environmentId, eventIds] = [scene.environment.id, [event.id, decided.id]];
    assert.deepEqual(new Set(await store.startsUndecided({ environmentId, eventIds })), new Set(eventIds));
    await start(scene, other, {});
    assert.deepEqual(await store.startsUndecided({ environmentId, eventIds }), [event.id]);
    const starts = [{ functionNo: scene.functions[0], dueAt: 1_000 }];
    const twins = [sampleEvent({ dedupId: "d", starts }), sampleEvent({ dedupId: "d", starts })];
    assert.equal((await store.eventAppend(sampleBatch(scene.environment, twins, { lease: sampleLease() }))).leased.length, 1);
    assert.equal(await store.eventAt({ environmentId: scene.environment.id, sequence: 999 }), null);
  });

  test(`${engine.name}: marks, the run and the end of the entry are one change`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const { entry, event } = await request(scene);
    const run = sampleRun(scene.functions[0]);
    const { applied, leased } = await start(
      scene,
      entry,
      (state) => {
        assert.deepEqual(state.marks, [null]);
        assert.deepEqual(
          state.events([event.sequence, 999]).map(({ id }) => id),
          [event.id],
        );
        return { marks: [{ ...KEY, value: "17", expiresAt: 9_000 }], run: { run, event } };
      },
      [KEY],
      [event.sequence, 999],
    );
    assert.deepEqual([applied, leased.length], [true, 1]);
    assert.equal((await detailsOf(scene, run.id)).event?.id, event.id);
    assert.equal(await markOf(scene, KEY), "17");
    assert.equal(await markOf(scene, KEY, scene.functions[1]), null, "marks are a function's own");
    assert.equal((await start(scene, entry, () => assert.fail("nothing is to be decided"))).applied, false, "the entry is done");
    const second = await request(scene);
    await start(scene, second.entry, (state) => {
      assert.deepEqual(state.marks, ["17"]);
      return { marks: [{ ...KEY, value: null, expiresAt: 0 }] };
    });
    assert.equal(await markOf(scene, KEY), null);
  });

  test(`${engine.name}: a decision that throws keeps the entry and writes nothing`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const { entry } = await request(scene);
    await assert.rejects(
      start(scene, entry, () => {
        throw new Error("undecided");
      }),
    );
    assert.ok((await start(scene, entry, {})).applied);
  });

  test(`${engine.name}: a gathering has one entry, which is moved`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    for (const dueAt of [5_000, 8_000])
      await start(scene, (await request(scene)).entry, { gather: { key: "debounce:k", dueAt, since: 1 } });
    await start(scene, (await request(scene)).entry, { gather: { key: "debounce:other", dueAt: 9_000, since: 1 } });
    assert.equal(await store.queueNextDue(), 8_000);
    const [due, ...others] = await claimAll(scene, 8_000, NODE);
    assert.deepEqual([due?.kind, due?.subject, others], ["gather", "debounce:k", []]);
    assert.ok(due);
    await start(scene, (await request(scene)).entry, { gather: { key: "debounce:k", dueAt: 12_000, since: 1 } });
    assert.equal((await start(scene, due, {})).applied, false, "moved while it was worked on: not due any more");
    assert.deepEqual(
      (await claimAll(scene, 12_000, NODE)).map(({ subject }) => subject),
      ["debounce:other", "debounce:k"],
    );
  });

  test(`${engine.name}: a singleton's mark names its run, and lasts as long as that goes on`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const mark: MarkKey = { kind: "singleton", key: "k" };
    const { entry, event } = await request(scene);
    const run = sampleRun(scene.functions[0]);
    const { leased } = await start(scene, entry, { run: { run, event }, holdMark: mark }, [mark]);
    const [held] = leased;
    assert.ok(held?.runNo);
    const runNo = held.runNo;
    const value = () => markOf(scene, mark);
    assert.equal(await value(), String(runNo));
    const far = 400 * 86_400_000;
    assert.equal(await store.markExpireMany({ until: far, limit: 10, neededUntil: () => 0 }), 1);
    assert.equal(await value(), String(runNo), "the run goes on");
    const replace = (state: FunctionStartState) => {
      assert.equal(state.isActive(runNo), true);
      return { cancels: [runNo, runNo] };
    };
    const replaced = await start(scene, (await request(scene)).entry, replace, [mark]);
    const [cancel, ...others] = replaced.leased;
    assert.deepEqual(others, []);
    assert.deepEqual([cancel?.kind, cancel?.runNo, cancel?.eventSequence], ["cancel", runNo, null]);
    assert.ok(cancel);
    await advance(scene, { runNo, entry: cancel }, { end: sampleEnd({ status: "cancelled" }) });
    const lookAgain = (state: FunctionStartState) => {
      assert.equal(state.isActive(runNo), false);
      return {};
    };
    await start(scene, (await request(scene)).entry, lookAgain, [mark]);
    assert.equal(await store.markExpireMany({ until: 2 * far, limit: 10, neededUntil: () => 0 }), 1);
    assert.equal(await value(), null);
  });

  test(`${engine.name}: of starts that come together each may cancel the run of the one before`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const mark: MarkKey = { kind: "singleton", key: "k" };
    const requests = await Promise.all(Array.from({ length: 6 }, () => request(scene)));
    const runs = requests.map(() => sampleRun(scene.functions[0]));
    const leased = await Promise.all(
      requests.map(async ({ entry, event }, n) => {
        const started = await start(
          scene,
          entry,
          ({ marks }) => ({
            cancels: marks[0] ? [Number(marks[0]) as RunNo] : [],
            run: { run: runs[n] as NewRun, event },
            holdMark: mark,
          }),
          [mark],
        );
        return started.leased;
      }),
    );
    const cancelled = leased.flat().filter(({ kind }) => kind === "cancel");
    assert.equal(new Set(cancelled.map(({ runNo }) => runNo)).size, 5, "all but the last are to be cancelled");
  });

  test(`${engine.name}: a start that is refused keeps its entry until the one who invoked it was told`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const { entry } = await request(scene);
    const { runNo } = await beginOne(scene);
    const refused = { invoker: { runNo, stepId: stepId("child") }, error: { name: "E", message: "m" } };
    assert.deepEqual((await start(scene, entry, { refused })).refused, refused);
    assert.deepEqual((await start(scene, entry, { refused })).refused, refused, "it is still held");
    await store.queueRemove(entry);
    assert.equal((await start(scene, entry, {})).applied, false);
  });

  test(`${engine.name}: marks expire, at most as many as asked`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const marks = [1_000, 2_000, 3_000].map((expiresAt) => ({ kind: "rate" as const, key: `k${expiresAt}`, value: "1", expiresAt }));
    await start(scene, (await request(scene)).entry, { marks });
    assert.equal(await store.markExpireMany({ until: 2_000, limit: 1, neededUntil: () => 0 }), 1);
    assert.equal(await store.markExpireMany({ until: 2_000, limit: 10, neededUntil: () => 0 }), 1);
    assert.equal(await store.markExpireMany({ until: 2_000, limit: 10, neededUntil: () => 0 }), 0);
    const left = await Promise.all(marks.map((mark) => markOf(scene, mark)));
    assert.deepEqual(left, [null, null, "1"]);
  });

  test(`${engine.name}: an expired mark that its rule needs for longer is kept for as long`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const keys: MarkKey[] = ["kept", "not needed"].map((key) => ({ kind: "rate", key }));
    const marks = keys.map((mark) => ({ ...mark, value: JSON.stringify(mark.key), expiresAt: 1_000 }));
    await start(scene, (await request(scene)).entry, { marks });
    const asked: ExpiredMark[] = [];
    const neededUntil = (mark: ExpiredMark) => {
      asked.push(mark);
      return mark.value === '"kept"' ? 2_000 : 1_000;
    };
    const expire = (until: number) => store.markExpireMany({ until, limit: 10, neededUntil });
    assert.equal(await expire(1_000), 2);
    assert.deepEqual(asked.map(({ functionNo, kind, value }) => [functionNo, kind, value]).sort(), [
      [scene.functions[0], "rate", '"kept"'],
      [scene.functions[0], "rate", '"not needed"'],
    ]);
    assert.deepEqual(await Promise.all(keys.map((mark) => markOf(scene, mark))), ['"kept"', null]);
    assert.deepEqual([await expire(1_999), await expire(2_000)], [0, 1]);
    assert.equal(await markOf(scene, keys[0] as MarkKey), null);
  });

  test(`${engine.name}: events of a change are stored with it, and start their runs`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const run = sampleRun(scene.functions[0], { cron: "* * * * *" });
    const tick = sampleEvent({ name: "tick", runs: [run] });
    const { entry } = await request(scene);
    const { leased } = await start(scene, entry, { events: [sampleBatch(scene.environment, [tick])], againAt: 60_000 });
    assert.equal(leased.length, 1);
    const details = await detailsOf(scene, run.id);
    assert.deepEqual([details.event?.id, details.cron], [tick.id, "* * * * *"]);
    assert.equal((await claimAll(scene, 60_000, NODE)).filter(({ kind }) => kind === "start").length, 1, "the entry is due again");
    await advance(scene, await beginOne(scene), { end: sampleEnd() });
  });
}
