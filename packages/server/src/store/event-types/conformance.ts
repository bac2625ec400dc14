import assert from "node:assert/strict";
import { test } from "node:test";
import type { Engine } from "../conformance/engine.ts";
import { makeEnvironment, sampleBatch, sampleEvent } from "../conformance/samples.ts";
import type { Environment, Store } from "../contract/index.ts";

const HOUR_MS = 3_600_000;

async function append(store: Store, environment: Environment, name: string, receivedAt: number, count = 1): Promise<void> {
  const events = Array.from({ length: count }, () => sampleEvent({ name }));
  await store.eventAppend(sampleBatch(environment, events, { receivedAt }));
}

async function countAll(store: Store): Promise<void> {
  while (!(await store.eventTypeCount({ limit: 3 })));
}

export function eventTypeConformance(engine: Engine): void {
  test(`${engine.name}: event types are counted once, by environment and hour, also across a restart`, async (t) => {
    const { store, reopen } = await engine.open(t);
    const [here, there] = [await makeEnvironment(store), await makeEnvironment(store, "staging")];
    await append(store, here, "a", HOUR_MS, 5);
    await append(store, here, "b", 2 * HOUR_MS);
    await append(store, there, "a", 2 * HOUR_MS);
    await countAll(store);
    await append(store, here, "a", 3 * HOUR_MS + 1, 2);
    const again = await reopen();
    await Promise.all([countAll(again), countAll(again)]);
    await countAll(again);
    const list = await again.eventTypeList({ environmentId: here.id, limit: 10, since: 2 * HOUR_MS + 5 });
    assert.deepEqual(list, {
      types: [
        {
          name: "b",
          firstSeenAt: 2 * HOUR_MS,
          lastSeenAt: 2 * HOUR_MS,
          count: 1,
          countSince: 1,
          hours: [{ at: 2 * HOUR_MS, count: 1 }],
        },
        {
          name: "a",
          firstSeenAt: HOUR_MS,
          lastSeenAt: 3 * HOUR_MS + 1,
          count: 7,
          countSince: 2,
          hours: [{ at: 3 * HOUR_MS, count: 2 }],
        },
      ],
      next: null,
    });
    const other = await again.eventTypeList({ environmentId: there.id, limit: 10, since: 0 });
    assert.deepEqual(
      other.types.map(({ name, count }) => [name, count]),
      [["a", 1]],
    );
  });

  test(`${engine.name}: declared names are listed until their first event, by environment`, async (t) => {
    const { store } = await engine.open(t);
    const [here, there] = [await makeEnvironment(store), await makeEnvironment(store, "staging")];
    for (const name of ["b", "a", "Z", "ä", "gone"]) await store.eventSchemaPut({ environmentId: here.id, name, schema: "{}", now: 1 });
    await store.eventSchemaPut({ environmentId: here.id, name: "gone", schema: null, now: 2 });
    await store.eventSchemaPut({ environmentId: here.id, name: "told", description: "in words", now: 2 });
    const unseen = (environmentId: Environment["id"], after?: string) =>
      store.eventTypeUnseenList({ environmentId, scopeId: here.id, limit: 3, ...(after !== undefined && { after }) });
    assert.deepEqual(await unseen(here.id), ["Z", "a", "b"]);
    assert.deepEqual(await unseen(here.id, "b"), ["told", "ä"]);
    await append(store, here, "a", HOUR_MS);
    await countAll(store);
    assert.deepEqual(await unseen(here.id), ["Z", "b", "told"]);
    assert.deepEqual(await unseen(there.id), ["Z", "a", "b"]);
  });

  test(`${engine.name}: a duplicate is no event, and names of every kind come back`, async (t) => {
    const { store } = await engine.open(t);
    const environment = await makeEnvironment(store);
    const name = "lone \ud800 surrogate\\";
    for (const _ of [1, 2]) await store.eventAppend(sampleBatch(environment, [sampleEvent({ name, dedupId: "same" })]));
    await countAll(store);
    const { types } = await store.eventTypeList({ environmentId: environment.id, limit: 1, since: 0 });
    assert.deepEqual([types[0]?.name, types[0]?.count], [name, 1]);
  });

  test(`${engine.name}: one event type is found by its name, with its hours`, async (t) => {
    const { store } = await engine.open(t);
    const [here, there] = [await makeEnvironment(store), await makeEnvironment(store, "staging")];
    const name = "back\\slash and \ud800";
    for (const hour of [5, 9, 7, 9]) await append(store, here, name, hour * HOUR_MS + 1, 2);
    await append(store, there, "other", HOUR_MS);
    await countAll(store);
    const get = (environment: Environment, wanted: string, since: number) =>
      store.eventTypeGet({ environmentId: environment.id, name: wanted, since });
    assert.deepEqual(await get(here, name, 7 * HOUR_MS + 1_000), {
      name,
      firstSeenAt: 5 * HOUR_MS + 1,
      lastSeenAt: 9 * HOUR_MS + 1,
      count: 8,
      countSince: 6,
      hours: [
        { at: 7 * HOUR_MS, count: 2 },
        { at: 9 * HOUR_MS, count: 4 },
      ],
    });
    assert.deepEqual((await get(here, name, 10 * HOUR_MS))?.hours, []);
    assert.deepEqual([await get(there, name, 0), await get(here, "never", 0)], [null, null]);
  });

  test(`${engine.name}: a batch that was taken back is not counted, what came around it is`, async (t) => {
    const { store } = await engine.open(t);
    const environment = await makeEnvironment(store);
    await countAll(store);
    const broken = sampleEvent({ name: null as unknown as string });
    const outcomes = await Promise.allSettled([
      append(store, environment, "a", 1),
      store.eventAppend(sampleBatch(environment, [sampleEvent({ name: "b" }), broken])),
      append(store, environment, "a", 2),
    ]);
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ["fulfilled", "rejected", "fulfilled"],
    );
    await append(store, environment, "a", 3);
    await countAll(store);
    await append(store, environment, "a", 4);
    await countAll(store);
    const { types } = await store.eventTypeList({ environmentId: environment.id, limit: 10, since: 0 });
    assert.deepEqual(
      types.map(({ name, count }) => [name, count]),
      [["a", 4]],
    );
  });

  test(`${engine.name}: event types come in pages; old hours are removed, totals stay`, async (t) => {
    const { store } = await engine.open(t);
    const environment = await makeEnvironment(store);
    for (const n of [1, 2, 3]) await append(store, environment, `n${n}`, n * HOUR_MS);
    await countAll(store);
    const first = await store.eventTypeList({ environmentId: environment.id, limit: 2, since: 0 });
    assert.deepEqual(
      first.types.map(({ name }) => name),
      ["n3", "n2"],
    );
    const second = await store.eventTypeList({ environmentId: environment.id, limit: 2, since: 0, after: first.next as number });
    assert.deepEqual([second.types.map(({ name }) => name), second.next], [["n1"], null]);

    assert.equal(await store.eventTypeHourExpireMany({ endedUntil: 3 * HOUR_MS, limit: 10 }), 2);
    const { types } = await store.eventTypeList({ environmentId: environment.id, limit: 10, since: 0 });
    assert.deepEqual(
      types.map(({ count, countSince }) => [count, countSince]),
      [
        [1, 1],
        [1, 0],
        [1, 0],
      ],
    );
  });
}
