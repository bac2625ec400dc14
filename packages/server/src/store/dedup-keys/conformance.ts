import assert from "node:assert/strict";
import { test } from "node:test";
import type { Engine } from "../conformance/engine.ts";
import { makeEnvironment, sampleBatch, sampleEvent } from "../conformance/samples.ts";
import type { SourceKind } from "../contract/index.ts";

export function dedupConformance(engine: Engine): void {
  test(`${engine.name}: a dedup id first seen after duplicateSince makes a duplicate, one seen at it does not`, async (t) => {
    const { store } = await engine.open(t);
    const environment = await makeEnvironment(store);
    const append = (receivedAt: number, duplicateSince: number) =>
      store.eventAppend(sampleBatch(environment, [sampleEvent({ dedupId: "d" })], { receivedAt, duplicateSince }));
    const first = await append(1_000, 0);
    assert.deepEqual(await append(1_999, 999), { ids: first.ids, duplicates: 1, leased: [] });
    const second = await append(2_000, 1_000);
    assert.notDeepEqual(second.ids, first.ids);
    assert.deepEqual(await append(2_001, 1_001), { ids: second.ids, duplicates: 1, leased: [] }, "the newer event is now the first");
  });

  test(`${engine.name}: an Event ID that is stored names its own event, whichever event has its dedup id by now`, async (t) => {
    const { store } = await engine.open(t);
    const environment = await makeEnvironment(store);
    const event = sampleEvent({ dedupId: "d" });
    await store.eventAppend(sampleBatch(environment, [event], { idsFromSender: true }));
    await store.eventAppend(sampleBatch(environment, [sampleEvent({ dedupId: "d" })], { receivedAt: 9_000, duplicateSince: 5_000 }));
    const again = sampleBatch(environment, [event], { idsFromSender: true, receivedAt: 9_001, duplicateSince: 5_001 });
    assert.deepEqual((await store.eventAppend(again)).ids, [event.id]);
    assert.equal((await store.eventGet({ environmentId: environment.id, id: event.id }))?.duplicates, 1);
  });

  test(`${engine.name}: duplicates within a batch and among concurrent batches, and their count`, async (t) => {
    const { store } = await engine.open(t);
    const environment = await makeEnvironment(store);
    const twins = [sampleEvent({ dedupId: "twin" }), sampleEvent({ dedupId: "other" }), sampleEvent({ dedupId: "twin" })];
    const results = await Promise.all(
      [0, 1, 2].map(() =>
        store.eventAppend(
          sampleBatch(
            environment,
            twins.map((event) => sampleEvent({ dedupId: event.dedupId })),
          ),
        ),
      ),
    );
    const winners = new Set(results.flatMap(({ ids }) => [ids[0], ids[2]]));
    assert.equal(winners.size, 1);
    assert.equal(
      results.reduce((sum, { duplicates }) => sum + duplicates, 0),
      7,
    );
    const [winner] = winners;
    assert.ok(winner);
    assert.equal((await store.eventGet({ environmentId: environment.id, id: winner }))?.duplicates, 5);
  });

  test(`${engine.name}: duplicates are one in each environment, though one id seed reaches two of them at once`, async (t) => {
    const { store } = await engine.open(t);
    const environments = [await makeEnvironment(store), await makeEnvironment(store, "staging")] as const;
    const [holding, other] = environments;
    const firsts = new Map<string, string>();
    for (let n = 0; n < 20; n++) {
      const { ids } = await store.eventAppend(sampleBatch(holding, [sampleEvent({ dedupId: `d-${n}` })]));
      firsts.set(`d-${n}`, ids[0] as string);
    }
    // A seed makes the same Event IDs wherever it is sent.
    const seeded = Array.from({ length: 20 }, (_, n) => sampleEvent({ dedupId: `d-${n}` }));
    const send = (environment: typeof holding) =>
      Promise.all(seeded.map((event) => store.eventAppend(sampleBatch(environment, [event], { idsFromSender: true }))));
    const sent = await Promise.all([send(holding), send(other), send(holding), send(other)]);
    for (const [n, { dedupId, id }] of seeded.entries()) {
      for (const results of [sent[0], sent[2]]) {
        assert.deepEqual([results[n]?.ids, results[n]?.duplicates], [[firsts.get(dedupId as string)], 1], "it was held before");
      }
      assert.deepEqual([sent[1][n]?.ids, sent[3][n]?.ids], [[id], [id]]);
      assert.equal((sent[1][n]?.duplicates ?? 0) + (sent[3][n]?.duplicates ?? 0), 1, "of two one is the first");
    }
    for (const environment of environments) {
      const { events } = await store.eventList({ environmentId: environment.id, limit: 100 });
      assert.equal(events.length, 20, environment.name);
      assert.equal(new Set(events.map(({ dedupId }) => dedupId)).size, 20);
    }
  });

  test(`${engine.name}: the first event with a dedup id is found, if it was seen since then`, async (t) => {
    const { store } = await engine.open(t);
    const environment = await makeEnvironment(store);
    const long = "x".repeat(5_000);
    for (const dedupId of ["d", long]) {
      const { ids } = await store.eventAppend(sampleBatch(environment, [sampleEvent({ dedupId })], { receivedAt: 1_000 }));
      const find = (since: number) => store.dedupKeyFind({ environmentId: environment.id, dedupId, since });
      assert.deepEqual([await find(999), await find(1_000)], [ids[0], null]);
    }
    assert.equal(await store.dedupKeyFind({ environmentId: environment.id, dedupId: "other", since: 0 }), null);
  });

  test(`${engine.name}: dedup ids of different environments are apart`, async (t) => {
    const { store } = await engine.open(t);
    const environments = [await makeEnvironment(store), await makeEnvironment(store, "staging")];
    const results = await Promise.all(environments.map((one) => store.eventAppend(sampleBatch(one, [sampleEvent({ dedupId: "d" })]))));
    assert.deepEqual(
      results.map(({ duplicates }) => duplicates),
      [0, 0],
    );
  });

  test(`${engine.name}: the service's own events and those of senders are no duplicates of each other, whatever their ids`, async (t) => {
    const { store } = await engine.open(t);
    const environment = await makeEnvironment(store);
    const append = async (kind: SourceKind, dedupId: string) => {
      const batch = sampleBatch(environment, [sampleEvent({ dedupId })], { source: { kind, id: "one" } });
      const isNew = await store.eventCountNew(batch);
      const { ids, duplicates } = await store.eventAppend(batch);
      assert.equal(isNew, 1 - duplicates, "what is counted is what is stored");
      return { ids, duplicates };
    };
    for (const dedupId of ["shop-tick * * * * * 2026-01-01T00:00:00.000Z", "d", "x".repeat(5_000)]) {
      const sent = await append("key", dedupId);
      const own = await append("internal", dedupId);
      assert.deepEqual([sent.duplicates, own.duplicates], [0, 0]);
      assert.deepEqual(await append("webhook", dedupId), { ids: sent.ids, duplicates: 1 });
      assert.deepEqual(await append("function", dedupId), { ids: sent.ids, duplicates: 1 });
      assert.deepEqual(await append("internal", dedupId), { ids: own.ids, duplicates: 1 }, "the same tick is one event");
      assert.equal(await store.dedupKeyFind({ environmentId: environment.id, dedupId, since: 0 }), sent.ids[0]);
      const { events } = await store.eventList({ environmentId: environment.id, dedupId, limit: 10 });
      assert.deepEqual(events.map(({ id }) => id).sort(), [...sent.ids, ...own.ids].sort(), "both are found by the id");
    }
    assert.equal((await append("internal", "own first")).duplicates, 0);
    assert.equal((await append("key", "own first")).duplicates, 0);
  });

  test(`${engine.name}: expiry removes old keys in every environment, at most as many as asked`, async (t) => {
    const { store } = await engine.open(t);
    const environments = [await makeEnvironment(store), await makeEnvironment(store, "staging")];
    for (const environment of environments) {
      for (const receivedAt of [1_000, 2_000, 3_000]) {
        await store.eventAppend(sampleBatch(environment, [sampleEvent({ dedupId: `d${receivedAt}` })], { receivedAt }));
      }
    }
    assert.equal(await store.dedupKeyExpireMany({ seenUntil: 2_000, limit: 3 }), 3);
    assert.equal(await store.dedupKeyExpireMany({ seenUntil: 2_000, limit: 3 }), 1);
    assert.equal(await store.dedupKeyExpireMany({ seenUntil: 2_000, limit: 3 }), 0);
    const [environment] = environments;
    assert.ok(environment);
    const again = async (dedupId: string) => (await store.eventAppend(sampleBatch(environment, [sampleEvent({ dedupId })]))).duplicates;
    assert.deepEqual([await again("d2000"), await again("d3000")], [0, 1], "younger keys still guard");
  });
}
