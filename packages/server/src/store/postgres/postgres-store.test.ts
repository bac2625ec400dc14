import assert from "node:assert/strict";
import { test } from "node:test";
import { HOOKS, openForConformance } from "../../../test/support/conformance-store.ts";
import { freshDatabase, inDatabase, migratedDatabase, whyNoPostgres } from "../../../test/support/postgres.ts";
import { eventConformance } from "../conformance/conformance.ts";
import { makeEnvironment, sampleBatch, sampleEvent } from "../conformance/samples.ts";
import { type Store, StoreRefused, StoreUnavailable } from "../contract/index.ts";
import { openPostgresStore } from "./postgres-store.ts";

const skip = whyNoPostgres() ?? false;

if (skip) test("postgres: conformance of events", { skip });
else eventConformance({ name: "postgres", open: openForConformance });

test("postgres: ten nodes that start at once migrate an empty database once", { skip }, async (t) => {
  const url = await freshDatabase(t);
  const stores = await Promise.all(Array.from({ length: 10 }, () => openPostgresStore({ url, connectionsMax: 2, ...HOOKS })));
  t.after(() => Promise.all(stores.map((store) => store.stop())));
  const environment = await makeEnvironment(stores[0] as Store);
  assert.deepEqual(await stores[9]?.environmentList(), [environment]);
});

test("postgres: a newer schema is refused, and so is a server that cannot be reached", { skip }, async (t) => {
  const url = await migratedDatabase(t);
  await inDatabase(url, (client) => client.query("UPDATE schema_version SET version = 99, oldest_program = 98"));
  await assert.rejects(
    openPostgresStore({ url, ...HOOKS }),
    (error) => error instanceof StoreRefused && /newer version/.test(error.message),
  );
  const nowhere = "postgres://postgres@127.0.0.1:1/none";
  await assert.rejects(
    openPostgresStore({ url: nowhere, ...HOOKS }),
    (error) => error instanceof StoreRefused && /--database-url/.test(error.message),
  );
});

test("postgres: a stopped store refuses work, can be stopped again, and has kept what was submitted", { skip }, async (t) => {
  const { store, reopen } = await openForConformance(t);
  const environment = await makeEnvironment(store);
  const event = sampleEvent();
  const appended = store.eventAppend(sampleBatch(environment, [event]));
  const again = await reopen();
  assert.deepEqual((await appended).ids, [event.id]);
  assert.ok(await again.eventGet({ environmentId: environment.id, id: event.id }));
  await assert.rejects(store.eventAppend(sampleBatch(environment, [sampleEvent()])), StoreUnavailable);
  await store.stop();
});

test("postgres: numbers with large gaps are read as fast as those without", { skip }, async (t) => {
  const { store, url } = await openForConformance(t);
  const environment = await makeEnvironment(store);
  const { id: environmentId } = environment;
  for (let n = 0; n < 3; n++) {
    await store.eventAppend(sampleBatch(environment, [sampleEvent(), sampleEvent()]));
    await inDatabase(url, (client) => client.query("SELECT setval('event_sequence', nextval('event_sequence') + 1000000)"));
  }
  assert.equal((await store.eventFollow({ environmentId, after: 0, limit: 100 })).events.length, 6);
  assert.equal(await store.eventTypeCount({ limit: 4 }), false);
  assert.equal(await store.eventTypeCount({ limit: 4 }), true);
  assert.equal((await store.eventTypeGet({ environmentId, name: "shop/order.created", since: 0 }))?.count, 6);
  const first = await store.eventSample({ after: 0, limit: 2, dataLengthMax: 100, behindMax: 4 });
  assert.deepEqual([first.events.length, first.reached < first.last], [2, true]);
  const newest = await store.eventSample({ after: 0, limit: 2, dataLengthMax: 100, behindMax: 3 });
  const rest = await store.eventSample({ after: newest.reached, limit: 2, dataLengthMax: 100 });
  assert.deepEqual([newest.events.length, rest.events.length, rest.reached], [2, 0, newest.last]);
});
