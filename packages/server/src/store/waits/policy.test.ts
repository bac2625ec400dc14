import assert from "node:assert/strict";
import { test } from "node:test";
import type { EventId } from "@inlet/protocol";
import { type NewEvent, WAITS_PER_EVENT_MAX, WAITS_PER_TRANSACTION_MAX, type WaitRules } from "../contract/index.ts";
import { candidateEvents, coversLookBack, firstMatch, type MatchedWait, ResumptionPlan, type SeenEvent } from "./policy.ts";

const RULES: WaitRules = {
  keyAt: ({ data }) => (data === "" ? null : data),
  matches: (_, event, runEvent) => event.data === runEvent.data,
};

function seen(sequence: number, data: string, receivedAt = sequence): SeenEvent {
  const event: NewEvent = { id: `e${sequence}` as EventId, name: "n", ts: 0, dedupId: null, extras: null, data };
  return { event, sequence, receivedAt };
}

const WAIT: MatchedWait = { kind: "event", since: 10, expiresAt: 20, expression: null, kept: null };
const RUN = { eventSequence: 11, event: seen(11, "a").event };

test("an event counts from the start of a wait until its timeout, by when it was received", () => {
  const found = (receivedAt: number) => firstMatch(WAIT, [seen(50, "", receivedAt)], RUN, RULES) !== undefined;
  assert.deepEqual([9, 10, 19, 20].map(found), [false, true, true, false]);
});

test("the first event counts that did not start the run and fulfils the condition", () => {
  const events = [seen(11, "a"), seen(12, "b"), seen(13, "a"), seen(14, "a")];
  assert.equal(firstMatch(WAIT, events, RUN, RULES)?.sequence, 12);
  assert.equal(firstMatch({ ...WAIT, expression: "same" }, events, RUN, RULES)?.sequence, 13);
  assert.equal(firstMatch({ ...WAIT, expression: "same" }, events, { ...RUN, event: null }, RULES), undefined);
  assert.equal(firstMatch(WAIT, events, undefined, RULES), undefined, "its run has ended");
});

test("an event cancels no run that a later event started, and may resume it", () => {
  const events = [seen(10, ""), seen(11, ""), seen(12, "")];
  assert.equal(firstMatch({ ...WAIT, kind: "cancel", since: 0 }, events, RUN, RULES)?.sequence, 12);
  assert.equal(firstMatch(WAIT, events, RUN, RULES)?.sequence, 10);
});

test("events are found by the key of a wait, in the form in which it is stored", () => {
  const candidatesOf = candidateEvents([seen(1, "a"), seen(2, "b"), seen(3, "a"), seen(4, "")], RULES, (key) => `kept ${key}`);
  const numbers = (kept: MatchedWait["kept"]) => candidatesOf({ kept }).map(({ sequence }) => sequence);
  assert.deepEqual(numbers({ path: "p", key: "kept a" }), [1, 3]);
  assert.deepEqual(numbers({ path: "p", key: "kept c" }), []);
  assert.deepEqual(numbers(null), [1, 2, 3, 4]);
});

test("events with many waits are deferred, and those of the same name after them", () => {
  const plan = new ResumptionPlan();
  const isDeferred = (name: string, waits: number, isPending = false) => plan.isDeferred({ name, waits, isPending });
  assert.equal(isDeferred("a", WAITS_PER_EVENT_MAX), false);
  assert.equal(isDeferred("a", WAITS_PER_EVENT_MAX + 1), true);
  assert.equal(isDeferred("a", 1), true);
  assert.equal(isDeferred("a", 0), false, "nothing waits for it");
  assert.equal(isDeferred("b", 1, true), true);
  assert.equal(isDeferred("b", 1), true);
});

test("a transaction has room for so many waits", () => {
  const plan = new ResumptionPlan();
  const events = WAITS_PER_TRANSACTION_MAX / WAITS_PER_EVENT_MAX;
  for (let n = 0; n < events; n++) assert.equal(plan.isDeferred({ name: `${n}`, waits: WAITS_PER_EVENT_MAX, isPending: false }), false);
  assert.equal(plan.isDeferred({ name: "last", waits: 1, isPending: false }), true);
});

test("the newest events are enough for a wait that begins after the oldest of them", () => {
  const events = [seen(1, "", 100), seen(2, "", 200)];
  assert.equal(coversLookBack({ since: 50 }, { events, isWhole: true }), true);
  assert.equal(coversLookBack({ since: 100 }, { events, isWhole: false }), false, "others may have been received at that time");
  assert.equal(coversLookBack({ since: 101 }, { events, isWhole: false }), true);
  assert.equal(coversLookBack({ since: 101 }, { events: [], isWhole: false }), false);
});
