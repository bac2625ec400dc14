import assert from "node:assert/strict";
import { test } from "node:test";
import { equalityKey, keyOfValue, valueAt } from "./equality-key.ts";
import { compileExpression, isFault } from "./expressions.ts";

test("an equality that must hold is found, in either order and beside other conditions", () => {
  const byPath = { asyncPath: "data.userId", expected: { path: "data.userId" } };
  assert.deepEqual(equalityKey("async.data.userId == event.data.userId"), byPath);
  assert.deepEqual(equalityKey("event.data.userId == async.data.userId"), byPath);
  assert.deepEqual(equalityKey("async['data']['userId'] == event.data.userId"), byPath);
  assert.deepEqual(equalityKey("async.data.n > 1 && (event.data.userId == async.data.userId && async.data.m < 2)"), byPath);
  assert.deepEqual(equalityKey("async.data.state == 'paid'"), { asyncPath: "data.state", expected: { literal: "paid" } });
  assert.deepEqual(equalityKey("-1.5 == async.data.n"), { asyncPath: "data.n", expected: { literal: -1.5 } });
  assert.deepEqual(equalityKey("async.data.n == 7"), { asyncPath: "data.n", expected: { literal: 7 } });
  assert.deepEqual(equalityKey("true == async.data.ok"), { asyncPath: "data.ok", expected: { literal: true } });
});

test("what need not hold is not taken for a key", () => {
  const texts = [
    "async.data.a == event.data.a || async.data.b == 1",
    "!(async.data.a == event.data.a)",
    "async.data.a != event.data.a",
    "async.data.list.exists(x, x == event.data.a)",
    "async.data.list[0] == event.data.a",
    "async.data['a.b'] == event.data.a",
    "event.data.a == event.data.b",
    "async.data.a == async.data.b",
    "async == event",
    "async.data.a == null",
    "async.data.a == [1]",
    "async.data.n == 9007199254740993",
    "async.data.a == (event.data.a",
  ];
  for (const text of texts) assert.equal(equalityKey(text), null, text);
});

test("two values have the same key exactly when expressions take them for equal", () => {
  const values = ["1", 1, 1.5, true, "true", false, "", 0, -0, "n:1", 1e300];
  const equals = compileExpression("async.data.x == event.data.x");
  assert.ok(!isFault(equals));
  for (const left of values)
    for (const right of values) {
      const isEqual = equals.matches({ event: { data: { x: left } }, async: { data: { x: right } } });
      assert.equal(keyOfValue(left) === keyOfValue(right), isEqual, `${typeof left} ${left}, ${typeof right} ${right}`);
    }
  for (const value of [null, undefined, {}, [], Number.NaN]) assert.equal(keyOfValue(value), null);
});

test("a value is found by its path, and nothing inherited", () => {
  const event = { data: { user: { id: 7 }, list: [1] }, ts: 5 };
  assert.equal(valueAt(event, "data.user.id"), 7);
  assert.equal(valueAt(event, "ts"), 5);
  for (const path of ["data.user.name", "data.user.id.x", "data.list.0", "data.list.length", "data.toString", "x.y"])
    assert.equal(valueAt(event, path), undefined, path);
});

test("a value is found in objects only: not in texts, lists or what every object has", () => {
  const event = { name: "x/y", data: { text: "abc", list: [1], none: null, deep: { n: 5 } }, ts: 1 } as unknown as Parameters<
    typeof valueAt
  >[0];
  assert.equal(valueAt(event, "data.deep.n"), 5);
  assert.equal(valueAt(event, "data.none"), null);
  for (const path of [
    "data.text.length",
    "data.list.length",
    "data.list.0",
    "data.none.x",
    "data.deep.n.toFixed",
    "data.toString",
    "data.x",
  ])
    assert.equal(valueAt(event, path), undefined, path);
});
