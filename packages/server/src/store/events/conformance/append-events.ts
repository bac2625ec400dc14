import assert from "node:assert/strict";
import { test } from "node:test";
import type { RunId } from "@inlet/protocol";
import type { Engine } from "../../conformance/engine.ts";
import { makeEnvironment, sampleBatch, sampleEvent } from "../../conformance/samples.ts";

export function eventAppendConformance(engine: Engine): void {
  test(`${engine.name}: an appended event is read back as it was given`, async (t) => {
    const { store } = await engine.open(t);
    const environment = await makeEnvironment(store);
    const event = sampleEvent({
      data: '{ "n":12345678901234567890, "é":"\\ud800" }',
      extras: '{"v":"1"}',
      dedupId: "d\0\\ud800\ud800",
      name: "odd/\ud800",
    });
    const { ids, duplicates } = await store.eventAppend(sampleBatch(environment, [event]));
    assert.deepEqual([ids, duplicates], [[event.id], 0]);
    const stored = await store.eventGet({ environmentId: environment.id, id: event.id });
    assert.ok(stored);
    const { sequence, ...rest } = stored;
    assert.ok(sequence > 0);
    assert.deepEqual(rest, {
      ...event,
      environmentId: environment.id,
      receivedAt: 1_000,
      source: { kind: "key", id: "key_1" },
      duplicates: 0,
      isMatched: false,
    });
  });

  test(`${engine.name}: what was appended is there after the store was opened again`, async (t) => {
    const { store, reopen } = await engine.open(t);
    const environment = await makeEnvironment(store);
    const event = sampleEvent();
    await store.eventAppend(sampleBatch(environment, [event]));
    const again = await reopen();
    assert.equal((await again.eventGet({ environmentId: environment.id, id: event.id }))?.id, event.id);
  });

  test(`${engine.name}: concurrent batches are all kept, each in order`, async (t) => {
    const { store } = await engine.open(t);
    const environment = await makeEnvironment(store);
    const batches = Array.from({ length: 200 }, () => [sampleEvent(), sampleEvent(), sampleEvent()]);
    const results = await Promise.all(batches.map((events) => store.eventAppend(sampleBatch(environment, events))));
    assert.deepEqual(
      results.map(({ ids }) => ids),
      batches.map((events) => events.map(({ id }) => id)),
    );
    const { events } = await store.eventFollow({ environmentId: environment.id, after: 0, limit: 1_000 });
    assert.equal(events.length, 600);
  });

  test(`${engine.name}: a batch that cannot be stored leaves nothing, and its neighbours in peace`, async (t) => {
    const { store } = await engine.open(t);
    const environment = await makeEnvironment(store);
    const taken = sampleEvent();
    await store.eventAppend(sampleBatch(environment, [taken]));
    const [before, broken, after] = [sampleEvent(), sampleEvent(), sampleEvent()];
    const outcomes = await Promise.allSettled([
      store.eventAppend(sampleBatch(environment, [before])),
      // An id of our own making that exists already is a fault of ours, not a duplicate.
      store.eventAppend(sampleBatch(environment, [broken, { ...taken }])),
      store.eventAppend(sampleBatch(environment, [after])),
    ]);
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ["fulfilled", "rejected", "fulfilled"],
    );
    const found = await Promise.all([before, broken, after].map(({ id }) => store.eventGet({ environmentId: environment.id, id })));
    assert.deepEqual(
      found.map((event) => event !== null),
      [true, false, true],
    );
  });

  test(`${engine.name}: a name first met in a batch that failed is as good as new`, async (t) => {
    const { store } = await engine.open(t);
    const environment = await makeEnvironment(store);
    const taken = sampleEvent();
    const source = { kind: "webhook", id: "wh_new" } as const;
    await store.eventAppend(sampleBatch(environment, [taken]));
    const fresh = sampleEvent({ name: "fresh/name" });
    await assert.rejects(store.eventAppend(sampleBatch(environment, [fresh, { ...taken }], { source })));
    await store.eventAppend(sampleBatch(environment, [sampleEvent({ name: "another/name" }), fresh], { source }));
    for (const filter of [{ name: "fresh/name" }, { name: "fresh/*" }, { text: "fresh/" }]) {
      const { events } = await store.eventList({ environmentId: environment.id, limit: 10, ...filter });
      assert.deepEqual(
        events.map((event) => [event.id, event.name, event.source.id]),
        [[fresh.id, "fresh/name", "wh_new"]],
      );
    }
  });

  test(`${engine.name}: an id the sender chose, sent again, is the same event`, async (t) => {
    const { store } = await engine.open(t);
    const [here, there] = [await makeEnvironment(store), await makeEnvironment(store, "staging")];
    const event = sampleEvent({ dedupId: "first" });
    const seeded = { idsFromSender: true };
    await store.eventAppend(sampleBatch(here, [event], seeded));
    const again = await store.eventAppend(sampleBatch(here, [{ ...event, dedupId: null }, sampleEvent()], seeded));
    assert.deepEqual([again.ids[0], again.duplicates], [event.id, 1]);
    const elsewhere = await store.eventAppend(sampleBatch(there, [event], seeded));
    assert.equal(elsewhere.duplicates, 0, "another environment knows nothing of it");
  });

  test(`${engine.name}: the sender's trace and run are kept with the event, and the trace is given to its runs`, async (t) => {
    const { store } = await engine.open(t);
    const environment = await makeEnvironment(store);
    const trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const sourceRun = "01J8Z3M0QY7X4V5N6P2R8S9T0W" as RunId;
    const events = [sampleEvent({ trace, sourceRun }), sampleEvent()];
    await store.eventAppend(sampleBatch(environment, events));
    const kept = await Promise.all(events.map(({ id }) => store.eventGet({ environmentId: environment.id, id })));
    assert.deepEqual(
      kept.map((event) => [event?.trace, event?.sourceRun]),
      [
        [trace, sourceRun],
        [undefined, undefined],
      ],
    );
  });

  test(`${engine.name}: a listener that throws neither fails nor repeats what was committed, and the others are called`, async (t) => {
    const { store } = await engine.open(t);
    const environment = await makeEnvironment(store);
    const warned = new Promise<Error>((resolve) => process.once("warning", resolve));
    let heard = 0;
    const stops = [
      store.eventWatch(() => {
        throw new Error("a fault of a listener");
      }),
      store.eventWatch(() => heard++),
    ];
    const events = [sampleEvent(), sampleEvent({ dedupId: "once" })];
    const appended = await Promise.all(events.map((event) => store.eventAppend(sampleBatch(environment, [event]))));
    for (const stop of stops) stop();
    assert.deepEqual(
      appended.map(({ ids, duplicates }) => [ids, duplicates]),
      events.map(({ id }) => [[id], 0]),
    );
    assert.ok(heard > 0);
    assert.equal((await warned).message, "a fault of a listener");
  });
}
