import assert from "node:assert/strict";
import { test } from "node:test";
import type { KeyId, SessionId } from "@inlet/protocol";
import type { Engine } from "../conformance/engine.ts";
import type { Session } from "../contract/index.ts";

function sampleSession(n: number, changes: Partial<Session> = {}): Session {
  return {
    id: `ses_${n}` as SessionId,
    hash: `hash ${n}`,
    keyId: null,
    createdAt: n,
    lastSeenAt: n,
    expiresAt: 100 + n,
    ip: "127.0.0.1",
    userAgent: null,
    ...changes,
  };
}

export function sessionConformance(engine: Engine): void {
  test(`${engine.name}: sessions are found by hash, also after a restart, and listed newest first`, async (t) => {
    const { store, reopen } = await engine.open(t);
    const [first, second] = [
      sampleSession(1),
      sampleSession(2, {
        keyId: "key_1" as KeyId,
        userAgent: "Firefox",
        person: { issuer: "https://id.example", subject: "s1", name: "Jane", claims: { groups: ["a", "b"] } },
      }),
    ];
    await store.sessionInsert(first);
    await store.sessionInsert(second);
    const again = await reopen();
    assert.deepEqual(await again.sessionFind({ hash: "hash 2" }), second);
    assert.equal(await again.sessionFind({ hash: "hash 3" }), null);
    assert.deepEqual(await again.sessionList(), [second, first]);
  });

  test(`${engine.name}: a session is touched, and ends once`, async (t) => {
    const { store } = await engine.open(t);
    const session = sampleSession(1);
    await store.sessionInsert(session);
    await store.sessionTouch({ id: session.id, lastSeenAt: 50, expiresAt: 150 });
    const touched = { ...session, lastSeenAt: 50, expiresAt: 150 };
    assert.deepEqual(await store.sessionFind({ hash: session.hash }), touched);
    assert.deepEqual(await store.sessionDelete({ id: session.id }), touched);
    assert.equal(await store.sessionDelete({ id: session.id }), null);
    await store.sessionTouch({ id: session.id, lastSeenAt: 60, expiresAt: 160 });
    assert.deepEqual(await store.sessionList(), []);
  });

  test(`${engine.name}: expired sessions are removed, so many at a time`, async (t) => {
    const { store } = await engine.open(t);
    for (const n of [1, 2, 3, 4]) await store.sessionInsert(sampleSession(n));
    assert.equal(await store.sessionExpireMany({ expiredUntil: 103, limit: 2 }), 2);
    assert.equal(await store.sessionExpireMany({ expiredUntil: 103, limit: 2 }), 1);
    assert.deepEqual(await store.sessionList(), [sampleSession(4)]);
  });
}
