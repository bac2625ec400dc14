import assert from "node:assert/strict";
import { test } from "node:test";
import { failureKey, failureStateOf } from "./failure-state.ts";

test("a resolved failure is open again when it happens again; an ignored one is not", () => {
  const group = { count: 2, lastAt: 1_000 };
  assert.equal(failureStateOf(group, undefined), "open");
  assert.equal(failureStateOf(group, { decision: "resolved", decidedAt: 1_000 }), "resolved");
  assert.equal(failureStateOf(group, { decision: "resolved", decidedAt: 999 }), "open");
  assert.equal(failureStateOf(group, { decision: "ignored", decidedAt: 1 }), "ignored");
});

test("a failure whose runs were all repeated is resolved, unless it is ignored", () => {
  assert.equal(failureStateOf({ count: 0, lastAt: 1_000 }, undefined), "resolved");
  assert.equal(failureStateOf({ count: 0, lastAt: 1_000 }, { decision: "ignored", decidedAt: 1 }), "ignored");
});

test("the key of a failure tells functions and patterns apart", () => {
  assert.equal(failureKey("a", "b"), failureKey("a", "b"));
  assert.equal(new Set([failureKey("a", "b"), failureKey("ab", ""), failureKey("", "ab"), failureKey("b", "a")]).size, 4);
});
