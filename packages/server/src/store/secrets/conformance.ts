import assert from "node:assert/strict";
import { test } from "node:test";
import type { Engine } from "../conformance/engine.ts";

export function keyHashConformance(engine: Engine): void {
  test(`${engine.name}: keys have a hash that does not show them, the same after a restart`, async (t) => {
    const { store, reopen } = await engine.open(t);
    const key = '"ada@example.com"';
    const hash = store.storeKeyHash(key);
    assert.match(hash, /^[\w-]{22}$/);
    assert.equal(store.storeKeyHash(key), hash);
    assert.notEqual(store.storeKeyHash('"bob@example.com"'), hash);
    const token = store.storeLinkToken(key);
    assert.match(token, /^[\w-]{22}$/);
    assert.notEqual(token, hash);
    const reopened = await reopen();
    assert.deepEqual([reopened.storeKeyHash(key), reopened.storeLinkToken(key)], [hash, token]);
  });
}
