/** Events from which nothing follows take a short way; whatever is not so plain after all fares as well as by the long one. */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { EventId, RunId, RunNo } from "@inlet/protocol";
import { countedDatabase } from "../../../test/support/function-calls.ts";
import { whyNoPostgres } from "../../../test/support/postgres.ts";
import { inDatabase } from "../../../test/support/postgres-server.ts";
import {
  advance,
  beginOne,
  claimAll,
  detailsOf,
  makeScene,
  SAMPLE_RULES,
  sampleEnd,
  sampleLease,
  sampleRun,
  sampleStep,
  stepId,
} from "../conformance/run-samples.ts";
import { makeEnvironment, sampleBatch, sampleEvent } from "../conformance/samples.ts";
import type { ClaimedEntry, Environment, NewEvent, Store } from "../contract/index.ts";
import { openPostgresStore } from "./postgres-store.ts";

const skip = whyNoPostgres() ?? false;

interface World {
  store: Store;
  /** Another node on the same database. */
  other: Store;
  url: string;
  /** How often each function was called. Stops the nodes. */
  calls(): Promise<Record<string, number>>;
}

async function open(t: TestContext): Promise<World> {
  const { url, callsBy } = await countedDatabase(t);
  const hooks = { url, rules: SAMPLE_RULES, onFault: () => undefined, onRecovery: () => undefined };
  const [store, other] = [await openPostgresStore(hooks), await openPostgresStore(hooks)];
  t.after(() => Promise.all([store.stop(), other.stop()]));
  return { store, other, url, calls: () => callsBy([store, other]) };
}

/** The first event of a name is never plain: its number has to be fetched. */
async function meet(store: Store, environment: Environment, name = "shop/order.created"): Promise<void> {
  await store.eventAppend(sampleBatch(environment, [sampleEvent({ name })]));
}

async function stored(store: Store, { id: environmentId }: Environment, id: EventId) {
  const event = await store.eventGet({ environmentId, id });
  assert.ok(event, `${id} is stored`);
  return event;
}

test("they are stored as they came, many in one call", { skip }, async (t) => {
  const { store, calls } = await open(t);
  const environment = await makeEnvironment(store);
  const staging = await makeEnvironment(store, "staging");
  await meet(store, environment);
  await meet(store, environment, "käse \\ \u{1f9c0}");
  const shapes: Partial<NewEvent>[] = [
    {},
    { ts: 0, data: '{"text":"\\u0000 \\" \\\\ ä \u{1f9c0} {,} NULL"}' },
    { ts: 253_402_300_799_999, extras: '{"v":"2","user":{"ä":null}}' },
    { dedupId: "d\0\\ud800\ud800", data: "{}" },
    { name: "käse \\ \u{1f9c0}", data: `{"long":"${"x".repeat(100_000)}"}` },
  ];
  const sent: [Environment, NewEvent, Promise<unknown>][] = [];
  for (let n = 0; n < 20; n++) {
    const one = n % 2 ? staging : environment;
    const events = shapes
      .filter(({ name }) => one === environment || !name)
      .map((shape) => sampleEvent({ ...shape, dedupId: shape.dedupId ? `${shape.dedupId}${n}` : null }));
    const appended = store.eventAppend(sampleBatch(one, events, { receivedAt: 5_000 + n }));
    for (const event of events) sent.push([one, event, appended]);
  }
  await Promise.all(sent.map(([, , appended]) => appended));
  for (const [one, event] of sent) {
    const { sequence, receivedAt, ...rest } = await stored(store, one, event.id);
    assert.ok(sequence > 0 && receivedAt >= 5_000);
    assert.deepEqual(rest, { ...event, environmentId: one.id, source: { kind: "key", id: "key_1" }, duplicates: 0 });
  }
  const { write_plain_events: plain, write_units: long } = await calls();
  assert.deepEqual({ plain, long }, { plain: 1, long: 2 }, "the long way for each name that was new, one call for all the others");
});

test("one that somebody waits for by now resumes the run, on whichever node it comes in", { skip }, async (t) => {
  const { store, other, calls } = await open(t);
  const scene = await makeScene(store);
  const { environment } = scene;
  for (const node of [store, other]) for (const name of ["answer", "another"]) await meet(node, environment, name);
  for (const node of [store, other]) {
    const begun = await beginOne(scene);
    const step = sampleStep("wait", { kind: "wait", status: "waiting", until: 90_000, detail: "answer" });
    const wait = { kind: "event", eventName: "answer", expression: null, match: null, stepId: stepId("wait"), expiresAt: 90_000 } as const;
    await advance(scene, begun, { status: "waiting", steps: [step], waits: [wait] });
    const answer = sampleEvent({ name: "answer", data: '{"it":"is"}' });
    const neighbours = [1, 2, 3].map(() => sampleEvent({ name: "another" }));
    const [{ handed }] = await Promise.all([
      node.eventAppend(sampleBatch(environment, [answer], { lease: sampleLease() })),
      ...neighbours.map((event) => node.eventAppend(sampleBatch(environment, [event]))),
    ]);
    assert.deepEqual(
      handed.map(({ runNo }) => runNo),
      [begun.runNo],
    );
    assert.equal((await detailsOf(scene, begun.run.id)).steps[0]?.value, '{"it":"is"}');
    for (const { id } of [answer, ...neighbours]) await stored(store, environment, id);
    await meet(node, environment, "answer");
  }
  assert.ok(((await calls()).write_plain_events ?? 0) > 0);
});

test("an id that is there already is found, and its neighbours are stored", { skip }, async (t) => {
  const { store } = await open(t);
  const environment = await makeEnvironment(store);
  await meet(store, environment);
  const again = sampleEvent();
  const send = (event: NewEvent) => store.eventAppend(sampleBatch(environment, [event], { idsFromSender: true }));
  assert.deepEqual(await send(again), { ids: [again.id], duplicates: 0, handed: [] });
  const neighbours = [1, 2, 3].map(() => sampleEvent());
  const [repeated, ...others] = await Promise.all([again, ...neighbours].map(send));
  assert.deepEqual(repeated, { ids: [again.id], duplicates: 1, handed: [] });
  assert.deepEqual(
    others.map(({ ids, duplicates }) => [ids, duplicates]),
    neighbours.map(({ id }) => [[id], 0]),
  );
  assert.equal((await stored(store, environment, again.id)).duplicates, 1);
});

test("of equal dedup ids sent to two nodes at once, in any order, one wins", { skip }, async (t) => {
  const { store, other, calls } = await open(t);
  const environment = await makeEnvironment(store);
  for (const node of [store, other]) await meet(node, environment);
  const [rounds, keys] = [20, ["a", "b", "c", "d"]];
  for (let round = 0; round < rounds; round++) {
    const send = (node: Store, order: readonly string[]) => {
      const events = order.map((key) => sampleEvent({ dedupId: `${key}${round}` }));
      return node.eventAppend(sampleBatch(environment, events)).then(({ ids, duplicates }) => ({ order, ids, duplicates }));
    };
    const results = await Promise.all([store, other].flatMap((node) => [send(node, keys), send(node, keys.toReversed())]));
    for (const key of keys) {
      const winners = new Set(results.map(({ order, ids }) => ids[order.indexOf(key)] as EventId));
      assert.equal(winners.size, 1, `one event of ${key}${round}`);
      for (const id of winners) assert.equal((await stored(store, environment, id)).duplicates, 3);
    }
    assert.equal(
      results.reduce((sum, { duplicates }) => sum + duplicates, 0),
      3 * keys.length,
    );
  }
  const { write_units: long = 0, write_plain_events: plain = 0 } = await calls();
  assert.ok(plain >= rounds && long <= 2, `${plain} short, ${long} long`);
});

test("the node knows the numbers of its events, whether they follow each other or not", { skip }, async (t) => {
  const { store, other, url, calls } = await open(t);
  const scene = await makeScene(store);
  const { environment, functions } = scene;
  await advance(scene, await beginOne(scene), { end: sampleEnd() });
  const lease = sampleLease({ roomIn: () => 10 });
  // As if other nodes took every second and third number.
  for (const step of [1, 3]) {
    await inDatabase(url, (client) => client.query(`ALTER SEQUENCE event_sequence INCREMENT BY ${step}`));
    const events = Array.from({ length: 3 }, () => sampleEvent({ runs: [sampleRun(functions[0])] }));
    const { handed } = await store.eventAppend(sampleBatch(environment, events, { lease }));
    assert.equal(handed.length, 3);
    for (const { runNo } of handed) {
      const key = { environmentId: environment.id, runNo: runNo as RunNo };
      const [here, there] = await Promise.all([store.runContext(key), other.runContext(key)]);
      assert.deepEqual(here?.events, there?.events, `in steps of ${step}`);
    }
  }
  assert.equal((await calls()).write_starting_events, 2);
});

test("runs that events start are written with them, and known to the node that takes them up", { skip }, async (t) => {
  const { store, other, calls } = await open(t);
  const scene = await makeScene(store);
  const { environment, functions } = scene;
  // The long way: number blocks, name and lane have to be fetched.
  await advance(scene, await beginOne(scene), { end: sampleEnd() });
  const elsewhere = { ...scene, store: other };
  const [taken, left] = [sampleRun(functions[0]), sampleRun(functions[1], { rank: 900 })];
  const event = sampleEvent({ data: '{"text":"ä \u{1f9c0}"}', runs: [taken, left] });
  const lease = sampleLease({ roomIn: () => 1 });
  const [{ ids, handed }, unheld] = await Promise.all([
    store.eventAppend(sampleBatch(environment, [sampleEvent(), event, sampleEvent()], { lease })),
    store.eventAppend(sampleBatch(environment, [sampleEvent({ runs: [sampleRun(functions[0])] })])),
  ]);
  assert.deepEqual([ids[1], handed.length, unheld.handed], [event.id, 1, []]);
  const [entry] = handed as [ClaimedEntry];
  const begun = { environmentId: environment.id, runNo: entry.runNo as RunNo, entry, run: taken };
  const { sequence } = await stored(store, environment, event.id);
  const details = await Promise.all([taken, left].map(({ id }) => detailsOf(elsewhere, id)));
  assert.deepEqual(
    details.map(({ status, functionNo, eventSequence, createdAt, lane }) => [status, functionNo, eventSequence, createdAt, lane]),
    [
      ["running", functions[0], sequence, 1_000, "app:1"],
      ["queued", functions[1], sequence, 1_000, "app:1"],
    ],
  );
  const [here, there] = await Promise.all([store.runContext(begun), other.runContext(begun)]);
  assert.deepEqual({ ...here, lastSequence: 0 }, { ...there, lastSequence: 0 });
  const waiting = await claimAll(elsewhere, 6_000, "another", ["app:1"]);
  assert.deepEqual(
    waiting.map(({ runNo, rank, claims, kind }) => [runNo === details[1]?.no, rank, claims, kind]),
    [
      [true, 900, 1, "call"],
      [false, 1_000, 1, "call"],
    ],
  );
  assert.equal((await advance(scene, begun, { end: sampleEnd() })).applied, true);
  assert.equal((await calls()).write_starting_events, 1);
});

test("an event that repeats another starts nothing, nor does one that meets itself in its own batch", { skip }, async (t) => {
  const { store, other, calls } = await open(t);
  const scene = await makeScene(store);
  const { environment, functions } = scene;
  await beginOne(scene);
  const starting = (dedupId: string | null) => sampleEvent({ dedupId, runs: [sampleRun(functions[0])] });
  const first = starting("once");
  await store.eventAppend(sampleBatch(environment, [first], { lease: sampleLease() }));
  const batch = [starting("once"), starting(null), starting("twice"), starting("twice")];
  const appended = await store.eventAppend(sampleBatch(environment, batch, { lease: sampleLease() }));
  assert.deepEqual(appended.ids, [first.id, batch[1]?.id, batch[2]?.id, batch[2]?.id]);
  assert.equal(appended.duplicates, 2);
  const { runs } = await other.runList({ environmentId: environment.id, limit: 100 });
  const started = new Set(runs.map(({ id }) => id));
  assert.deepEqual(
    batch.map(({ runs: [run] = [] }) => started.has(run?.id as RunId)),
    [false, true, true, false],
  );
  assert.deepEqual(
    appended.handed.map(({ runNo }) => runNo),
    runs
      .filter(({ id }) => batch.some(({ runs: [run] = [] }) => run?.id === id))
      .map(({ no }) => no)
      .sort(),
  );
  assert.equal((await stored(store, environment, first.id)).duplicates, 1);
  assert.equal((await calls()).write_starting_events, 2);
});

test("a lane that was forgotten meanwhile is made again", { skip }, async (t) => {
  const { store, other } = await open(t);
  const scene = await makeScene(store);
  await advance(scene, await beginOne(scene), { end: sampleEnd() });
  assert.ok((await other.queueLaneForgetMany({ after: 0, limit: 100 })).forgotten > 0);
  const begun = await beginOne(scene);
  assert.equal((await advance(scene, begun, { end: sampleEnd() })).applied, true);
});
