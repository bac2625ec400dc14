import assert from "node:assert/strict";
import { test } from "node:test";
import type { EnvironmentId } from "@inlet/protocol";
import type { Engine } from "../conformance/engine.ts";
import { makeEnvironment } from "../conformance/samples.ts";

const NO_QUOTAS = { eventsPerSecond: null, eventsPerDay: null, bytesPerDay: null, callsAtOnce: null, storedBytes: null };

export function environmentConformance(engine: Engine): void {
  test(`${engine.name}: environments are made once, changed field by field, and listed`, async (t) => {
    const { store, reopen } = await engine.open(t);
    const made = await store.environmentInsert({ name: "feature/cart", kind: "branch", createdAt: 5, bodyBytesMax: 10 });
    assert.ok(made);
    const retention = { eventsMs: null, runsMs: null, requestsMs: null };
    assert.deepEqual(made, {
      id: made.id,
      name: "feature/cart",
      kind: "branch",
      createdAt: 5,
      archivedAt: null,
      bodyBytesMax: 10,
      retention,
      quotas: NO_QUOTAS,
      databaseNo: 0,
    });
    assert.equal(await store.environmentInsert({ name: "feature/cart", kind: "custom", createdAt: 6, bodyBytesMax: null }), null);
    assert.deepEqual(await store.environmentUpdate({ id: made.id, archivedAt: 7 }), { ...made, archivedAt: 7 });
    assert.deepEqual(await store.environmentUpdate({ id: made.id, archivedAt: null, bodyBytesMax: null }), { ...made, bodyBytesMax: null });
    assert.equal(await store.environmentUpdate({ id: 999 as EnvironmentId, archivedAt: 1 }), null);
    const limited = await store.environmentUpdate({ id: made.id, quotas: { eventsPerDay: 5, storedBytes: 2 ** 40 } });
    assert.deepEqual(limited?.quotas, { ...NO_QUOTAS, eventsPerDay: 5, storedBytes: 2 ** 40 });
    const freed = await store.environmentUpdate({ id: made.id, quotas: { eventsPerDay: null, storedBytes: null } });
    assert.deepEqual(freed?.quotas, NO_QUOTAS);
    const second = await makeEnvironment(store);
    assert.deepEqual(await (await reopen()).environmentList(), [{ ...made, bodyBytesMax: null }, second]);
  });

  test(`${engine.name}: of concurrent makers of one name exactly one succeeds`, async (t) => {
    const { store } = await engine.open(t);
    const made = await Promise.all(
      Array.from({ length: 10 }, () => store.environmentInsert({ name: "x", kind: "branch", createdAt: 1, bodyBytesMax: null })),
    );
    assert.equal(made.filter(Boolean).length, 1);
  });
}
