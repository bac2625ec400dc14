import assert from "node:assert/strict";
import { test } from "node:test";
import { ADMISSIONS_MAX } from "../contract/index.ts";
import { type AdmissionFacts, admissionResult, admissionRoom, orderedAdmissionResult } from "./policy.ts";

function resultOf(changes: Partial<AdmissionFacts>) {
  return admissionResult({ free: null, found: 2, lockable: 2, throttled: null, waiting: ["gate"], ...changes });
}

test("there is room for the free slots, within the bound of one call", () => {
  assert.equal(admissionRoom(null), ADMISSIONS_MAX);
  assert.equal(admissionRoom(3), 3);
  assert.equal(admissionRoom(0), 0);
  assert.equal(admissionRoom(ADMISSIONS_MAX + 1), ADMISSIONS_MAX);
});

test("the next call follows at once if only the bound of this one kept runs waiting", () => {
  assert.deepEqual(resultOf({}), { admitted: 2, waiting: ["gate"], more: true, nextAt: null });
  assert.equal(resultOf({ free: 3 }).more, true);
  assert.equal(resultOf({ free: 2 }).more, false, "no slot is free");
  assert.equal(resultOf({ waiting: [] }).more, false, "nobody waits");
  assert.equal(resultOf({ lockable: 1 }).more, false, "another transaction changes the other run");
});

test("a throttle that admits fewer says when the next may start, if there is one", () => {
  const throttled = { count: 1, nextAt: 9 };
  assert.deepEqual(resultOf({ throttled }), { admitted: 1, waiting: ["gate"], more: false, nextAt: 9 });
  assert.equal(resultOf({ throttled, waiting: [] }).nextAt, null);
  assert.equal(resultOf({ throttled: { count: 2, nextAt: 9 } }).nextAt, null);
});

test("of runs in order one is admitted, unless the throttle delays it", () => {
  const facts = { lockable: 1, waiting: ["gate"] };
  assert.deepEqual(orderedAdmissionResult(null, facts), { admitted: 1, waiting: ["gate"], more: false, nextAt: null });
  assert.deepEqual(orderedAdmissionResult({ count: 0, nextAt: 9 }, facts), { admitted: 0, waiting: ["gate"], more: false, nextAt: 9 });
  assert.equal(orderedAdmissionResult(null, { ...facts, lockable: 0 }).admitted, 0);
});
