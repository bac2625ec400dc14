import assert from "node:assert/strict";
import { test } from "node:test";
import type { CancellationId, EnvironmentId } from "@inlet/protocol";
import type { Engine } from "../conformance/engine.ts";
import { makeEnvironment } from "../conformance/samples.ts";
import type { Cancellation } from "../contract/index.ts";

function sampleCancellation(n: number, environmentId: EnvironmentId, changes: Partial<Cancellation> = {}): Cancellation {
  return {
    id: `0000000000000000000000000${n}` as CancellationId,
    environmentId,
    functionId: "shop-ship",
    startedAfter: null,
    startedBefore: 100 + n,
    expression: null,
    createdAt: n,
    endedAt: null,
    ...changes,
  };
}

export function cancellationConformance(engine: Engine): void {
  test(`${engine.name}: cancellations are listed newest first, those that have not ended oldest first, also after a restart`, async (t) => {
    const { store, reopen } = await engine.open(t);
    const { id: environmentId } = await makeEnvironment(store);
    const [first, second, third] = [
      sampleCancellation(1, environmentId, { startedAfter: 5, expression: 'event.data.a == "\u0000"' }),
      sampleCancellation(2, environmentId),
      sampleCancellation(3, environmentId),
    ] as const;
    for (const cancellation of [first, second, third]) await store.cancellationInsert(cancellation);
    await store.cancellationEnd({ environmentId, id: second.id, endedAt: 50 });
    const again = await reopen();
    assert.deepEqual(await again.cancellationList({ environmentId }), [third, { ...second, endedAt: 50 }, first]);
    assert.deepEqual(await again.cancellationList({ environmentId: (environmentId + 1_000) as EnvironmentId }), []);
    assert.deepEqual(await again.cancellationListOpen(), [first, third]);
  });

  test(`${engine.name}: a cancellation is found by its id in its environment, and removed some time after its end`, async (t) => {
    const { store } = await engine.open(t);
    const { id: environmentId } = await makeEnvironment(store);
    const all = [1, 2, 3, 4].map((n) => sampleCancellation(n, environmentId, { endedAt: n === 4 ? null : n * 10 }));
    for (const cancellation of all) await store.cancellationInsert(cancellation);
    const [first] = all as [Cancellation];
    assert.deepEqual(await store.cancellationGet(first), first);
    assert.equal(await store.cancellationGet({ ...first, environmentId: (environmentId + 1_000) as EnvironmentId }), null);
    assert.equal(await store.cancellationExpireMany({ endedUntil: 9, limit: 10 }), 0);
    assert.equal(await store.cancellationExpireMany({ endedUntil: 20, limit: 1 }), 1);
    assert.equal(await store.cancellationExpireMany({ endedUntil: 20, limit: 10 }), 1);
    assert.deepEqual(await store.cancellationList({ environmentId }), [all[3], all[2]]);
  });

  test(`${engine.name}: a cancellation is deleted once, in its environment`, async (t) => {
    const { store } = await engine.open(t);
    const { id: environmentId } = await makeEnvironment(store);
    const cancellation = sampleCancellation(1, environmentId);
    await store.cancellationInsert(cancellation);
    const elsewhere = { environmentId: (environmentId + 1_000) as EnvironmentId, id: cancellation.id };
    assert.equal(await store.cancellationDelete(elsewhere), null);
    assert.deepEqual(await store.cancellationDelete(cancellation), cancellation);
    assert.equal(await store.cancellationDelete(cancellation), null);
    await store.cancellationEnd({ ...cancellation, endedAt: 9 });
    assert.deepEqual(await store.cancellationListOpen(), []);
  });
}
