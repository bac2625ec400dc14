import assert from "node:assert/strict";
import { test } from "node:test";
import type { KeyId } from "@inlet/protocol";
import type { Engine } from "../conformance/engine.ts";
import { makeEnvironment } from "../conformance/samples.ts";
import type { Key } from "../contract/index.ts";

function sampleKey(changes: Partial<Key> = {}): Omit<Key, "revokedAt"> {
  return {
    id: "key_1" as KeyId,
    kind: "api",
    name: "k",
    environmentId: null,
    hash: "h1",
    prefix: "ak_1",
    secret: null,
    role: "admin",
    environments: null,
    eventNames: null,
    ips: null,
    createdAt: 1,
    ...changes,
  };
}

export function keyConformance(engine: Engine): void {
  test(`${engine.name}: keys keep their lists and are listed oldest first`, async (t) => {
    const { store, reopen } = await engine.open(t);
    const environment = await makeEnvironment(store);
    const event = sampleKey({
      kind: "event",
      role: null,
      environmentId: environment.id,
      eventNames: { mode: "allow", list: ["shop/*"] },
      ips: { mode: "deny", list: ["10.0.0.0/8"] },
    });
    const signing = sampleKey({ id: "key_2" as KeyId, kind: "signing", hash: "h2", secret: "s", role: null, createdAt: 2 });
    const api = sampleKey({ id: "key_3" as KeyId, hash: "h3", role: "ingest-admin", environments: ["staging", "branch"], createdAt: 3 });
    const home = { environmentId: environment.id, createdAt: 2 };
    const ofEnvironment = sampleKey({ id: "key_4" as KeyId, kind: "signing", hash: "h4", secret: "t", role: null, ...home });
    for (const key of [event, signing, ofEnvironment, api]) await store.keyInsert(key);
    assert.deepEqual(await (await reopen()).keyList(), [
      { ...event, revokedAt: null },
      { ...signing, revokedAt: null },
      { ...ofEnvironment, revokedAt: null },
      { ...api, revokedAt: null },
    ]);
  });

  test(`${engine.name}: one hash, one key of a kind`, async (t) => {
    const { store } = await engine.open(t);
    assert.ok(await store.keyInsert(sampleKey()));
    assert.equal(await store.keyInsert(sampleKey({ id: "key_2" as KeyId })), null);
    assert.ok(await store.keyInsert(sampleKey({ id: "key_3" as KeyId, kind: "signing", role: null, secret: "s" })));
  });

  test(`${engine.name}: what a key allows is changed field by field, until it is revoked`, async (t) => {
    const { store, reopen } = await engine.open(t);
    const id = "key_1" as KeyId;
    await store.keyInsert(sampleKey());
    const first = await store.keyUpdate({ id, changes: { role: "viewer", environments: ["staging"] } });
    assert.deepEqual(first, { ...sampleKey(), role: "viewer", environments: ["staging"], revokedAt: null });
    await store.keyUpdate({ id, changes: { name: "renamed" } });
    await store.keyUpdate({ id, changes: { environments: null, ips: { mode: "allow", list: ["10.0.0.0/8"] } } });
    const expected = { ...sampleKey(), name: "renamed", role: "viewer", ips: { mode: "allow", list: ["10.0.0.0/8"] }, revokedAt: null };
    assert.deepEqual(await store.keyUpdate({ id, changes: {} }), expected);
    assert.deepEqual(await (await reopen()).keyList(), [expected]);
    const again = await reopen();
    assert.equal(await again.keyUpdate({ id: "none" as KeyId, changes: { name: "x" } }), null);
    await again.keyRevoke({ id, revokedAt: 9 });
    for (const changes of [{}, { role: "admin" as const }]) assert.equal(await again.keyUpdate({ id, changes }), null);
  });

  test(`${engine.name}: a key is revoked once and stays listed`, async (t) => {
    const { store } = await engine.open(t);
    await store.keyInsert(sampleKey());
    assert.equal((await store.keyRevoke({ id: "key_1" as KeyId, revokedAt: 9 }))?.revokedAt, 9);
    assert.equal(await store.keyRevoke({ id: "key_1" as KeyId, revokedAt: 10 }), null);
    assert.equal(await store.keyRevoke({ id: "none" as KeyId, revokedAt: 10 }), null);
    assert.equal((await store.keyList())[0]?.revokedAt, 9);
  });
}
