import assert from "node:assert/strict";
import { test } from "node:test";
import type { Engine } from "../conformance/engine.ts";
import { makeEnvironment, sampleBatch, sampleEvent } from "../conformance/samples.ts";
import { databaseOf } from "../contract/index.ts";

const NAME = "shop/order.created";

export function eventSchemaConformance(engine: Engine): void {
  test(`${engine.name}: a declared schema is read back, changes by field, and keeps its versions`, async (t) => {
    const { store, reopen } = await engine.open(t);
    const { id: environmentId } = await makeEnvironment(store);
    const key = { environmentId, name: NAME };
    assert.equal(await store.eventSchemaGet(key), null);
    const first = await store.eventSchemaPut({ ...key, schema: '{"type":"object"}', now: 1_000 });
    const none = { faults: 0, lastFaultAt: null };
    assert.deepEqual(first, {
      ...key,
      schema: '{"type":"object"}',
      mode: "observe",
      description: null,
      version: 1,
      updatedAt: 1_000,
      ...none,
    });
    await store.eventSchemaPut({ ...key, mode: "refuse", description: "An order\u0000", now: 2_000 });
    await store.eventSchemaPut({ ...key, schema: "{}", now: 3_000 });
    await store.eventSchemaPut({ ...key, schema: null, now: 4_000 });
    const again = await reopen();
    const expected = { ...key, schema: null, mode: "refuse", description: "An order\u0000", version: 3, updatedAt: 4_000, ...none };
    assert.deepEqual(await again.eventSchemaGet(key), expected);
    assert.deepEqual(await again.eventSchemaList(), [expected]);
    assert.deepEqual(await again.eventSchemaVersions(key), [
      { version: 3, schema: null, createdAt: 4_000 },
      { version: 2, schema: "{}", createdAt: 3_000 },
      { version: 1, schema: '{"type":"object"}', createdAt: 1_000 },
    ]);
  });

  test(`${engine.name}: two who declare at once both count`, async (t) => {
    const { store } = await engine.open(t);
    const { id: environmentId } = await makeEnvironment(store);
    const key = { environmentId, name: NAME };
    await Promise.all([1, 2, 3].map((n) => store.eventSchemaPut({ ...key, schema: `{"minProperties":${n}}`, now: 1_000 })));
    assert.equal((await store.eventSchemaGet(key))?.version, 3);
    assert.equal((await store.eventSchemaVersions(key)).length, 3);
  });

  test(`${engine.name}: faults add up, for names that are declared`, async (t) => {
    const { store } = await engine.open(t);
    const { id: environmentId } = await makeEnvironment(store);
    await store.eventSchemaPut({ environmentId, name: NAME, schema: "{}", now: 1_000 });
    const faults = (count: number, lastAt: number, name = NAME) => ({ environmentId, name, count, lastAt });
    await store.eventSchemaFaultsAdd({ faults: [faults(2, 5_000), faults(7, 6_000, "unknown")] });
    await store.eventSchemaFaultsAdd({ faults: [faults(1, 4_000)] });
    const { faults: count, lastFaultAt } = (await store.eventSchemaGet({ environmentId, name: NAME })) ?? {};
    assert.deepEqual([count, lastFaultAt], [3, 5_000]);
  });

  test(`${engine.name}: an event carries how it breaks its schema`, async (t) => {
    const { store } = await engine.open(t);
    const environment = await makeEnvironment(store);
    const schemaErrors = '[{"path":"/n","message":"must be string"}]';
    const events = [sampleEvent({ schemaErrors }), sampleEvent()];
    await store.eventAppend(sampleBatch(environment, events));
    const read = await Promise.all(events.map(({ id }) => store.eventGet({ environmentId: environment.id, id })));
    assert.deepEqual(
      read.map((event) => event?.schemaErrors),
      [schemaErrors, undefined],
    );
  });

  test(`${engine.name}: shapes are kept with how far events were looked at, by the first who says so`, async (t) => {
    const { store, reopen } = await engine.open(t);
    const environment = await makeEnvironment(store);
    const { id: environmentId } = environment;
    const events = [sampleEvent(), sampleEvent({ data: `{"long":"${"x".repeat(50)}"}` }), sampleEvent()];
    for (const event of events) await store.eventAppend(sampleBatch(environment, [event]));
    const own = databaseOf(store, environmentId).store;
    const from = await own.eventShapeProgress();
    const first = await own.eventSample({ after: from, limit: 2, dataLengthMax: 40 });
    assert.deepEqual(
      first.events.map(({ id }) => id),
      [events[0]?.id],
    );
    const rest = await own.eventSample({ after: first.reached, limit: 10, dataLengthMax: 40 });
    assert.deepEqual([rest.events.length, rest.reached], [1, rest.last]);
    const newest = await own.eventSample({ after: from, limit: 1, dataLengthMax: 40, behindMax: 1 });
    assert.deepEqual(
      newest.events.map(({ id }) => id),
      [events[2]?.id],
      "it is too far behind",
    );
    const next = await own.eventSample({ after: from, limit: 1, dataLengthMax: 40, behindMax: 2 });
    assert.deepEqual(
      next.events.map(({ id }) => id),
      [events[0]?.id],
    );
    const shape = { environmentId, name: NAME, shape: '{"samples":1}' };
    assert.equal(await own.eventShapePut({ from, reached: first.reached, shapes: [shape] }), true);
    assert.equal(await own.eventShapePut({ from, reached: rest.reached, shapes: [{ ...shape, shape: "{}" }] }), false);
    const again = await reopen();
    assert.equal(await databaseOf(again, environmentId).store.eventShapeProgress(), first.reached);
    assert.deepEqual(await again.eventShapeGetMany({ keys: [shape, { environmentId, name: "other" }] }), [shape]);
    assert.equal(await again.eventShapeCount({ environmentId }), 1);
  });
}
