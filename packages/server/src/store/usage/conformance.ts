import assert from "node:assert/strict";
import { test } from "node:test";
import type { Engine } from "../conformance/engine.ts";
import { makeEnvironment, sampleBatch, sampleEvent } from "../conformance/samples.ts";
import { noUsage } from "./contract.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export function usageConformance(engine: Engine): void {
  test(`${engine.name}: usage counts what a batch stores, by environment and source, at once and after a restart`, async (t) => {
    const { store, reopen } = await engine.open(t);
    const [here, there] = [await makeEnvironment(store), await makeEnvironment(store, "staging")];
    const batch = (dedupIds: (string | null)[], changes = {}) =>
      sampleBatch(
        here,
        dedupIds.map((dedupId) => sampleEvent({ dedupId })),
        { receivedAt: DAY_MS + 5, bodyBytes: 100, ...changes },
      );
    const again = batch(["a", "b", "b", null]);
    assert.equal(await store.eventCountNew(again), 3);
    await store.eventAppend(again);
    assert.equal(await store.eventCountNew(batch(["a", "c", "c"])), 1);
    await store.eventAppend(batch(["a", "b"]));
    assert.equal(await store.eventCountNew({ ...again, idsFromSender: true }), 0);
    await store.eventAppend(batch([null], { source: { kind: "webhook", id: "wh_1" }, receivedAt: DAY_MS + HOUR_MS }));
    await store.eventAppend(batch([null], { source: { kind: "internal", id: "service" } }));
    await store.eventAppend(sampleBatch(there, [sampleEvent()], { receivedAt: DAY_MS, bodyBytes: 7 }));
    await store.usageAdd({
      hours: [{ environmentId: here.id, kind: "key", subject: "key_1", at: DAY_MS, figures: { ...noUsage(), refused: 2, transformMs: 9 } }],
    });
    const reopened = await reopen();
    const list = async (kind: "environment" | "key" | "webhook", intervalMs = DAY_MS, environmentIds = [here.id]) =>
      (await reopened.usageList({ environmentIds, kind, from: 0, to: 9 * DAY_MS, intervalMs })).map(({ at, subject, figures }) => {
        const { accepted, duplicates, refused, bytes, transformMs } = figures;
        return [at, subject, accepted, duplicates, refused, bytes, transformMs];
      });
    assert.deepEqual(await list("environment"), [[DAY_MS, "", 4, 3, 0, 200, 0]]);
    assert.deepEqual(await list("environment", HOUR_MS), [
      [DAY_MS, "", 3, 3, 0, 100, 0],
      [DAY_MS + HOUR_MS, "", 1, 0, 0, 100, 0],
    ]);
    assert.deepEqual(await list("key"), [[DAY_MS, "key_1", 3, 3, 2, 100, 9]]);
    assert.deepEqual(await list("webhook"), [[DAY_MS, "wh_1", 1, 0, 0, 100, 0]]);
    assert.equal((await list("environment", DAY_MS, [here.id, there.id])).length, 2);
    assert.ok((await reopened.usageExpireMany({ until: DAY_MS, limit: 100 })) >= 4);
    assert.equal((await list("environment")).length, 1);
  });

  test(`${engine.name}: the figures of a batch that cannot be stored are not counted`, async (t) => {
    const { store } = await engine.open(t);
    const environment = await makeEnvironment(store);
    const taken = sampleEvent();
    const sent = { bodyBytes: 10 };
    await store.eventAppend(sampleBatch(environment, [taken], sent));
    const results = await Promise.allSettled([
      store.eventAppend(sampleBatch(environment, [sampleEvent()], sent)),
      store.eventAppend(sampleBatch(environment, [sampleEvent(), taken], sent)),
      store.eventAppend(sampleBatch(environment, [sampleEvent()], sent)),
    ]);
    assert.deepEqual(
      results.map(({ status }) => status),
      ["fulfilled", "rejected", "fulfilled"],
    );
    const [day] = await store.usageList({ environmentIds: [environment.id], kind: "environment", from: 0, to: DAY_MS, intervalMs: DAY_MS });
    assert.deepEqual([day?.figures.accepted, day?.figures.bytes], [3, 30]);
  });
}
