import assert from "node:assert/strict";
import { test } from "node:test";
import type { EventId, RunNo, StepId } from "@inlet/protocol";
import type { NewEvent, StoredWait } from "../store/contract/index.ts";
import { eventValue, newWait, waitRules } from "./waits.ts";

const eventOf = (data: object): NewEvent => ({
  id: "01E" as EventId,
  name: "x/y",
  ts: 5,
  dedupId: null,
  data: JSON.stringify(data),
  extras: null,
});
const PARAMS = { kind: "event", eventName: "x/paid", stepId: "s" as StepId, since: 3, expiresAt: 9 } as const;
const runEvent = eventOf({ order: 7, text: "a", list: [1] });
const waitFor = (expression: string | null) => newWait({ ...PARAMS, expression }, () => eventValue(runEvent));

test("a wait is looked up by the value that an event must have", () => {
  const match = (expression: string) => {
    const wait = waitFor(expression);
    return typeof wait === "string" ? wait : wait.match;
  };
  assert.deepEqual(match("async.data.order == event.data.order"), { path: "data.order", key: "n:7" });
  assert.deepEqual(match('async.data.kind == "card"'), { path: "data.kind", key: "s:card" });
  assert.deepEqual(match("event.data.text == async.data.text && async.data.n > 1"), { path: "data.text", key: "s:a" });
  for (const none of ["async.data.n > 1", "async.data.list == event.data.list", "async.data.x == event.data.none"])
    assert.equal(match(none), null, none);
});

test("a wait without an expression takes every event of its name", () => {
  assert.deepEqual(waitFor(null), { ...PARAMS, expression: null, match: null });
});

test("an expression that cannot be used is told", () => {
  assert.match(String(waitFor("async.data.n ==")), /^the expression "async\.data\.n ==" cannot be used: ./);
});

test("an event is the one waited for if the expression is true of it and of the event that started the run", () => {
  const stored = (expression: string | null): StoredWait => ({ ...PARAMS, expression, match: null, runNo: 1 as RunNo });
  const matches = (expression: string | null, data: object) => waitRules.matches(stored(expression), eventOf(data), runEvent);
  assert.equal(matches(null, {}), true);
  assert.equal(matches("async.data.order == event.data.order", { order: 7 }), true);
  assert.equal(matches("async.data.order == event.data.order", { order: 8 }), false);
  assert.equal(matches("async.data.order == event.data.order", {}), false, "what has no value is not true");
  assert.equal(matches("async.data.order", { order: 7 }), false, "nor is a number");
  assert.equal(matches("1 +", { order: 7 }), false);
});

test("the key of an event is found at the path of the wait", () => {
  const keyAt = (path: string) => waitRules.keyAt(runEvent, path);
  assert.deepEqual([keyAt("data.order"), keyAt("name"), keyAt("data.list"), keyAt("data.none")], ["n:7", "s:x/y", null, null]);
});
