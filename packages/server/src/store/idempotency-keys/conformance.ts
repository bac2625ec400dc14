import assert from "node:assert/strict";
import { test } from "node:test";
import type { Engine } from "../conformance/engine.ts";
import type { Store } from "../contract/index.ts";

const claim = (store: Store, startedAt: number, changes: object = {}) =>
  store.idempotencyClaim({
    owner: "key_1",
    key: "a",
    fingerprint: "f",
    startedAt,
    abandonedUntil: startedAt - 10,
    forgottenUntil: startedAt - 100,
    ...changes,
  });

export function idempotencyConformance(engine: Engine): void {
  test(`${engine.name}: of calls with one idempotency key exactly one has it, others learn its response`, async (t) => {
    const { store, reopen } = await engine.open(t);
    const [other, ...same] = await Promise.all([claim(store, 1_000, { owner: "key_2" }), claim(store, 1_000), claim(store, 1_000)]);
    assert.equal(other, null);
    const taken = { fingerprint: "f", startedAt: 1_000, answer: null };
    assert.deepEqual(same[0] === null ? same : same.reverse(), [null, taken], "whichever came first");
    await store.idempotencyResponse({ owner: "key_1", key: "a", status: 201, body: '{"n":1}' });
    const again = await reopen();
    const answered = { fingerprint: "f", startedAt: 1_000, answer: { status: 201, body: '{"n":1}' } };
    assert.deepEqual(await claim(again, 1_099, { fingerprint: "g" }), answered);
    assert.equal(await claim(again, 1_100), null, "forgotten");
  });

  test(`${engine.name}: an idempotency key that was released or abandoned can be claimed again`, async (t) => {
    const { store } = await engine.open(t);
    await claim(store, 1_000);
    await store.idempotencyRelease({ owner: "key_1", key: "a" });
    assert.equal(await claim(store, 1_001), null);
    assert.ok(await claim(store, 1_010));
    assert.equal(await claim(store, 1_011), null);
  });

  test(`${engine.name}: idempotency keys are forgotten whose response contains an id`, async (t) => {
    const { store } = await engine.open(t);
    for (const [n, key] of ["a", "b", "c", "open"].entries()) {
      await claim(store, 1, { key });
      if (key !== "open") await store.idempotencyResponse({ owner: "key_1", key, status: 201, body: `{"id":"id-${n}"}` });
    }
    await store.idempotencyForget({ ids: [] });
    await store.idempotencyForget({ ids: ["id-0", "id-2", "id-9"] });
    const isKnown = await Promise.all(["a", "b", "c", "open"].map(async (key) => (await claim(store, 2, { key })) !== null));
    assert.deepEqual(isKnown, [false, true, false, true]);
  });

  test(`${engine.name}: old idempotency keys are removed, so many at a time`, async (t) => {
    const { store } = await engine.open(t);
    for (const n of [1, 2, 3, 4]) await claim(store, n, { key: `k${n}` });
    assert.equal(await store.idempotencyExpireMany({ startedUntil: 3, limit: 2 }), 2);
    assert.equal(await store.idempotencyExpireMany({ startedUntil: 3, limit: 2 }), 1);
    assert.ok(await claim(store, 5, { key: "k4" }));
  });
}
