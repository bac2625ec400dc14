import assert from "node:assert/strict";
import { test } from "node:test";
import { readFrame } from "./read-frame.ts";

const TOPIC = { channel: "a", name: "b" };

test("a token subscribes, and named topics are left", () => {
  assert.deepEqual(readFrame('{"kind":"sub","data":"token","more":1}'), { kind: "sub", token: "token" });
  assert.deepEqual(readFrame(JSON.stringify({ kind: "unsub", data: [{ ...TOPIC, kind: "run" }] })), { kind: "unsub", topics: [TOPIC] });
  assert.deepEqual(readFrame('{"kind":"unsub","data":[]}'), { kind: "unsub", topics: [] });
});

test("anything else is nothing, also if only one topic of many is wrong", () => {
  const wrong = [
    null,
    1,
    "a",
    [],
    {},
    { channel: "a" },
    { ...TOPIC, name: "" },
    { ...TOPIC, name: "x".repeat(513) },
    { ...TOPIC, channel: [] },
  ];
  const withMethods = { channel: { toString: 1, valueOf: 1 }, name: "b" };
  for (const topic of [...wrong, withMethods])
    assert.equal(readFrame(JSON.stringify({ kind: "unsub", data: [TOPIC, topic] })), null, JSON.stringify(topic));
  assert.equal(readFrame(JSON.stringify({ kind: "unsub", data: Array(101).fill(TOPIC) })), null);
  const frames = [
    "",
    "null",
    "1",
    "[]",
    "{}",
    '"sub"',
    '{"kind":"sub"}',
    '{"kind":"sub","data":{}}',
    '{"kind":["sub"],"data":"x"}',
    "{",
    "\u0000",
  ];
  for (const frame of [...frames, "[".repeat(60_000), '{"kind":"unsub","data":{"length":1}}'])
    assert.equal(readFrame(frame), null, frame.slice(0, 50));
});
