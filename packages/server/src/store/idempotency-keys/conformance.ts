import assert from "node:assert/strict";
import { test } from "node:test";
import { createEventIdGenerator } from "@inlet/protocol";
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
    const generator = createEventIdGenerator();
    const [first, second, third] = [generator.next(1_000), generator.next(1_000), generator.next(1_000)];
    const [later, other] = [generator.next(2_000), generator.next(3_000)];
    const bodies = {
      one: { id: first },
      "another that was made with it": { id: second },
      many: { ids: [second, third, later] },
      "in a text": { links: [`https://example.com/approvals/${later}?token=t`] },
      other: { id: other },
    };
    const keys = [...Object.keys(bodies), "open"];
    for (const key of keys) await claim(store, 1, { key });
    for (const [key, body] of Object.entries(bodies))
      await store.idempotencyResponse({ owner: "key_1", key, status: 201, body: JSON.stringify(body) });
    await store.idempotencyForget({ ids: [] });
    await store.idempotencyForget({ ids: [first, later, generator.next(4_000)] });
    const known = [];
    for (const key of keys) if (await claim(store, 2, { key })) known.push(key);
    assert.deepEqual(known, ["another that was made with it", "other", "open"]);
  });

  test(`${engine.name}: a response is forgotten for its ids when its key was claimed before, or is released`, async (t) => {
    const { store } = await engine.open(t);
    const [before, after] = ["01ARZ3NDEKTSV4RRFFQ69G5FAV", "01BX5ZZKBKACTAV9WEVGEMMVRZ"];
    const respond = (id: string) => store.idempotencyResponse({ owner: "key_1", key: "a", status: 201, body: `{"id":"${id}"}` });
    await claim(store, 1_000);
    await respond(before);
    assert.equal(await claim(store, 1_100), null, "the first is forgotten");
    await respond(after);
    await respond(after);
    await store.idempotencyForget({ ids: [before] });
    assert.equal((await claim(store, 1_101))?.answer?.body, `{"id":"${after}"}`);
    await store.idempotencyForget({ ids: [after] });
    await respond(after);
    assert.equal(await claim(store, 1_102), null);
    await respond(after);
    await store.idempotencyRelease({ owner: "key_1", key: "a" });
    assert.equal(await claim(store, 1_103), null);
  });

  test(`${engine.name}: old idempotency keys are removed, so many at a time`, async (t) => {
    const { store } = await engine.open(t);
    for (const n of [1, 2, 3, 4]) await claim(store, n, { key: `k${n}` });
    assert.equal(await store.idempotencyExpireMany({ startedUntil: 3, limit: 2 }), 2);
    assert.equal(await store.idempotencyExpireMany({ startedUntil: 3, limit: 2 }), 1);
    assert.ok(await claim(store, 5, { key: "k4" }));
  });
}
