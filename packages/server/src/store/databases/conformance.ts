import assert from "node:assert/strict";
import { test } from "node:test";
import type { Engine } from "../conformance/engine.ts";

export function databaseConformance(engine: Engine): void {
  test(`${engine.name}: a store begins without added databases, and every environment is on its own`, async (t) => {
    const { store } = await engine.open(t);
    if (engine.databaseNo === undefined) assert.deepEqual(await store.databaseList(), []);
    const made = await store.environmentInsert({ name: "staging", kind: "custom", createdAt: 1, bodyBytesMax: null });
    assert.equal(made?.databaseNo, engine.databaseNo ?? 0);
  });
}
