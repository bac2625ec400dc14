import assert from "node:assert/strict";
import { test } from "node:test";
import { settleSessions } from "./sessions.ts";

const metaOf = (meta: object) => JSON.parse(settleSessions(JSON.stringify({ v: "1", meta })) ?? "null");

test("sessions of the sender win over those handed on; null cuts off", () => {
  assert.deepEqual(metaOf({ sessions: { a: "1" }, propagated_sessions: { a: "0", b: 2 } }), {
    v: "1",
    meta: { sessions: { a: "1", b: "2" } },
  });
  assert.deepEqual(metaOf({ sessions: { b: null }, propagated_sessions: { a: "0", b: "2" }, x: 1 }).meta, { sessions: { a: "0" }, x: 1 });
  assert.deepEqual(metaOf({ sessions: null, propagated_sessions: { a: "0" } }).meta, { sessions: {} });
  const many = Object.fromEntries(Array.from({ length: 9 }, (_, n) => [`k${n}`, "x"]));
  assert.equal(Object.keys(metaOf({ propagated_sessions: many }).meta.sessions).length, 5);
});

test("what has nothing to settle stays as it was written", () => {
  for (const extras of [null, '{"v":1.0}', '{"meta":{"sessions":{"a":"1"}},"v":1.0}', '{"meta":"text"}', '{"meta":{"x":1.0}}'])
    assert.equal(settleSessions(extras), extras);
});

test("what else meta contains stays as it was written, however deep", () => {
  const deep = "[".repeat(100_000) + "]".repeat(100_000);
  const meta = `{"n":1.0,"propagated_sessions":{"a":"1"},"big":12345678901234567890,"x":${deep}}`;
  const settled = `{"n":1.0,"big":12345678901234567890,"x":${deep},"sessions":{"a":"1"}}`;
  assert.equal(settleSessions(`{"v":1.0,"meta":${meta}}`), `{"v":1.0,"meta":${settled}}`);
});
