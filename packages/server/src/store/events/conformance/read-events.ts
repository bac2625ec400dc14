import assert from "node:assert/strict";
import { test } from "node:test";
import type { Engine } from "../../conformance/engine.ts";
import { makeScene, sampleLease, sampleRun } from "../../conformance/run-samples.ts";
import { makeEnvironment, sampleBatch, sampleEvent } from "../../conformance/samples.ts";
import type { Environment, EventBatch, EventCursor, EventListParams, Store } from "../../contract/index.ts";

type Filters = Omit<EventListParams, "environmentId" | "limit" | "after">;

/** All pages of a list, and how many there were. */
async function readAll(
  store: Store,
  environment: Environment,
  filters: Filters,
  limit: number,
): Promise<{ names: string[]; pages: number }> {
  const names: string[] = [];
  let after: EventCursor | null | undefined;
  let pages = 0;
  do {
    const page = await store.eventList({ environmentId: environment.id, limit, ...(after && { after }), ...filters });
    assert.ok(page.events.length <= limit);
    names.push(...page.events.map(({ name }) => name));
    after = page.next;
    pages++;
  } while (after);
  return { names, pages };
}

async function fill(store: Store): Promise<Environment> {
  const environment = await makeEnvironment(store);
  const other = await makeEnvironment(store, "staging");
  for (let n = 0; n < 30; n++) {
    const event = sampleEvent({
      name: `${n % 3 === 0 ? "blog" : "shop"}/event.${n}`,
      data: `{"n":${n},"word":"Wörd${n}"}`,
      dedupId: n % 10 === 0 ? `d${n}` : null,
    });
    const source = n % 5 === 0 ? ({ kind: "webhook", id: "hook_1" } as const) : ({ kind: "key", id: "key_1" } as const);
    // Three events share each instant.
    await store.eventAppend(sampleBatch(environment, [event], { receivedAt: 1_000 + Math.floor(n / 3), source }));
    await store.eventAppend(sampleBatch(other, [sampleEvent()], { receivedAt: 1_000 + n }));
  }
  return environment;
}

export function eventReadConformance(engine: Engine): void {
  test(`${engine.name}: lists are newest first and pages neither repeat nor skip`, async (t) => {
    const { store } = await engine.open(t);
    const environment = await fill(store);
    const expected = Array.from({ length: 30 }, (_, i) => 29 - i).map((n) => `${n % 3 === 0 ? "blog" : "shop"}/event.${n}`);
    for (const limit of [1, 4, 30, 100]) {
      const { names, pages } = await readAll(store, environment, {}, limit);
      assert.deepEqual(names, expected, `limit ${limit}`);
      assert.equal(pages, Math.ceil(30 / limit), "the last page says that it is the last");
    }
  });

  test(`${engine.name}: each filter, alone and together`, async (t) => {
    const { store } = await engine.open(t);
    const environment = await fill(store);
    const count = async (filters: Filters) => (await readAll(store, environment, filters, 4)).names.length;
    assert.equal(await count({ name: "shop/event.1" }), 1);
    assert.equal(await count({ name: "shop/event.1*" }), 8);
    assert.equal(await count({ name: "shop/*" }), 20);
    assert.equal(await count({ name: "*" }), 30);
    assert.equal(await count({ name: "none/*" }), 0);
    assert.equal(await count({ from: 1_002, to: 1_004 }), 6);
    assert.equal(await count({ dedupId: "d10" }), 1);
    assert.equal(await count({ dedupId: "nothing" }), 0);
    assert.equal(await count({ source: "webhook" }), 6);
    assert.equal(await count({ source: "key_1" }), 24);
    assert.equal(await count({ text: "wÖRD2" }), 11);
    assert.equal(await count({ text: "wörd2", name: "blog/*", source: "key" }), 3);
    assert.equal(await count({ name: "shop/*", from: 1_005, source: "webhook" }), 2);
    const ended = sampleBatch(environment, [sampleEvent({ name: "shop/event.31" })], { source: { kind: "internal", id: "service" } });
    await store.eventAppend(ended);
    assert.deepEqual([await count({}), await count({ internal: false }), await count({ internal: true })], [31, 30, 31]);
  });

  test(`${engine.name}: a wildcard over more names than are merged`, async (t) => {
    const { store } = await engine.open(t);
    const environment = await makeEnvironment(store);
    await store.eventAppend(
      sampleBatch(
        environment,
        Array.from({ length: 120 }, (_, n) => sampleEvent({ name: `many/${n}` })),
      ),
    );
    await store.eventAppend(sampleBatch(environment, [sampleEvent({ name: "one/1" })]));
    assert.equal((await readAll(store, environment, { name: "many/*" }, 50)).names.length, 120);
  });

  test(`${engine.name}: following yields every event of the environment in the order of its commit`, async (t) => {
    const { store } = await engine.open(t);
    const environment = await fill(store);
    const followed: string[] = [];
    let after = 0;
    for (let reached = -1; reached !== after; ) {
      reached = after;
      const read = await store.eventFollow({ environmentId: environment.id, after, limit: 7 });
      followed.push(...read.events.map(({ name }) => name));
      after = read.reached;
    }
    const { names } = await readAll(store, environment, {}, 100);
    assert.deepEqual(followed, names.reverse());
    assert.equal(after, await store.eventSequence({ environmentId: environment.id }));
  });

  test(`${engine.name}: an instant has a place before everything received from then on`, async (t) => {
    const { store } = await engine.open(t);
    const [environment, other] = [await makeEnvironment(store), await makeEnvironment(store, "staging")];
    const hour = 3_600_000;
    for (const [home, receivedAt] of [
      [environment, hour],
      [other, 2 * hour],
      [environment, 3 * hour],
      [environment, 5 * hour],
    ] as const)
      await store.eventAppend(sampleBatch(home, [sampleEvent()], { receivedAt }));
    const from = async (receivedFrom: number) => {
      const after = await store.eventSequenceBefore({ environmentId: environment.id, receivedFrom });
      const { events } = await store.eventFollow({ environmentId: environment.id, after, limit: 10 });
      return events.map(({ receivedAt }) => receivedAt / hour);
    };
    assert.deepEqual([await from(0), await from(2 * hour), await from(3 * hour), await from(6 * hour)], [[1, 3, 5], [3, 5], [3, 5], []]);
  });

  test(`${engine.name}: a stream from a time includes an event that overtook one received before it`, async (t) => {
    const { store } = await engine.open(t);
    const environment = await makeEnvironment(store);
    const from = 1_000_000;
    // Stored in this order: the second was received first, and delayed by its transform.
    for (const receivedAt of [from + 100, from - 1_000]) await store.eventAppend(sampleBatch(environment, [sampleEvent()], { receivedAt }));
    const after = await store.eventSequenceBefore({ environmentId: environment.id, receivedFrom: from });
    const { events } = await store.eventFollow({ environmentId: environment.id, after, limit: 10 });
    assert.ok(events.some(({ receivedAt }) => receivedAt === from + 100));
  });

  test(`${engine.name}: watchers hear of commits until they stop`, async (t) => {
    const { store } = await engine.open(t);
    const environment = await makeEnvironment(store);
    let heard = 0;
    const stop = store.eventWatch(() => heard++);
    await store.eventAppend(sampleBatch(environment, [sampleEvent()]));
    assert.equal(heard, 1);
    stop();
    await store.eventAppend(sampleBatch(environment, [sampleEvent()]));
    assert.equal(heard, 1);
  });

  test(`${engine.name}: an event is found in its environment only`, async (t) => {
    const { store } = await engine.open(t);
    const [here, there] = [await makeEnvironment(store), await makeEnvironment(store, "staging")];
    const event = sampleEvent();
    await store.eventAppend(sampleBatch(here, [event]));
    assert.equal(await store.eventGet({ environmentId: there.id, id: event.id }), null);
  });

  test(`${engine.name}: events that started and resumed nothing are counted since a time, without those of the service`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const { environment } = scene;
    const other = await makeEnvironment(store, "staging");
    const append = (receivedAt: number, event = sampleEvent(), changes: Partial<EventBatch> = {}) =>
      store.eventAppend(sampleBatch(environment, [event], { receivedAt, lease: sampleLease(), ...changes }));
    for (const receivedAt of [1_000, 1_001, 1_002]) await append(receivedAt);
    await append(1_002, sampleEvent({ runs: [sampleRun(scene.functions[0])] }));
    await append(1_002, sampleEvent(), { source: { kind: "internal", id: "" } });
    await append(1_002, sampleEvent(), { environmentId: other.id });
    const count = (from: number, limit = 10, { id: environmentId } = environment) =>
      store.eventCountUnmatched({ environmentId, from, limit });
    assert.deepEqual([await count(1_000), await count(1_001), await count(1_003), await count(0, 10, other)], [3, 2, 0, 1]);
    assert.equal(await count(1_000, 2), 0, "only the newest are looked at");
    assert.equal(await count(1_000, 4), 2);
  });
}
