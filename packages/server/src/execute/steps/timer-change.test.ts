import assert from "node:assert/strict";
import { test } from "node:test";
import type { RunNo, StepId } from "@inlet/protocol";
import { DISCOVERY_ENTRY, NOW, SAMPLE_EVENT, sampleState, sampleStep } from "../../../test/support/sample-state.ts";
import type { ClaimedEntry, RunEnd, RunState, StepRecord } from "../../store/contract/index.ts";
import { arrivedMeanwhile, type TimerFacts, timerChange } from "./timer-change.ts";

const STEP = "s" as StepId;

function due(kind: ClaimedEntry["kind"], given: Partial<ClaimedEntry> = {}): ClaimedEntry {
  return { ...DISCOVERY_ENTRY, kind, stepId: STEP, eventSequence: null, endedRunNo: null, outcome: null, ...given } as ClaimedEntry;
}

function change(entry: ClaimedEntry, state: RunState, facts: Partial<TimerFacts> = {}) {
  return timerChange(entry, state, { event: null, ended: null, limitsStart: true, now: NOW, endEvents: () => [], ...facts });
}

const resting = (kind: StepRecord["kind"]) =>
  sampleState({ steps: [sampleStep("other", { status: "planned" }), sampleStep(STEP, { kind, status: "waiting" })], entries: [] });

function resolved(entry: ClaimedEntry, kind: StepRecord["kind"], facts: Partial<TimerFacts> = {}) {
  const [step, ...others] = change(entry, resting(kind), facts).steps ?? [];
  assert.deepEqual([step?.id, others], [STEP, []]);
  return [step?.status, step?.value, step?.endedAt];
}

test("a run is cancelled by an event, by a newer run and by the limits of its function, each with its reason", () => {
  const reason = (entry: ClaimedEntry, state = sampleState()) => change(entry, state).end?.error?.message;
  assert.equal(reason(due("cancel", { eventSequence: 7 as never })), "An event cancelled it.");
  assert.equal(reason(due("cancel")), "It was replaced by a newer run.");
  assert.equal(reason(due("finish-by")), "It did not end within the timeout of its function.");
  const notStarted = sampleState({ run: { startedAt: null } });
  assert.equal(reason(due("start-by"), notStarted), "It did not start within the timeout of its function.");
  assert.deepEqual(change(due("start-by"), sampleState()), {}, "it has started");
  assert.deepEqual(change(due("start-by"), notStarted, { limitsStart: false }), {}, "its function has no such limit any more");
  assert.equal(change(due("cancel"), sampleState()).end?.status, "cancelled");
});

test("a sleep is over with nothing, a wait without an event too, an invocation without an end fails", () => {
  assert.deepEqual(resolved(due("wake"), "sleep"), ["completed", "null", NOW]);
  assert.deepEqual(resolved(due("resume"), "wait"), ["completed", "null", NOW]);
  const [status, value] = resolved(due("resume"), "invoke");
  assert.deepEqual([status, JSON.parse(value as string).error.name], ["failed", "InvocationTimeout"]);
});

test("an event that arrived while the timeout of its wait was being processed is not missed", () => {
  const timedOut = due("resume");
  const arrived = (entry: ClaimedEntry, eventSequence: number | null) =>
    arrivedMeanwhile(entry, sampleState({ entries: [{ ...DISCOVERY_ENTRY, no: entry.no, eventSequence }] }));
  assert.equal(arrived(timedOut, 7), 7);
  assert.equal(arrived(timedOut, null), null);
  assert.equal(arrived(due("resume", { eventSequence: 7 }), 7), null, "it is known");
  assert.equal(arrived(due("resume", { endedRunNo: 1 as RunNo }), 7), null, "it waited for a run");
});

test("a wait gets its event, and ends after that was received", () => {
  const entry = due("resume", { eventSequence: 1 as never });
  const [status, value, endedAt] = resolved(entry, "wait", { event: SAMPLE_EVENT });
  assert.deepEqual([status, JSON.parse(value as string).name, endedAt], ["completed", SAMPLE_EVENT.name, NOW]);
  assert.equal(change(entry, resting("wait"), { event: SAMPLE_EVENT }).steps?.[0]?.eventId, SAMPLE_EVENT.id);
  const late = resolved(entry, "wait", { event: { ...SAMPLE_EVENT, receivedAt: NOW + 5 } });
  assert.equal(late[2], NOW + 6, "the next wait must not take the same event");
  assert.deepEqual(resolved(entry, "wait", { event: null })[1], "null", "the event was removed");
});

test("an invocation gets the output or the error of its run", () => {
  const entry = due("resume", { endedRunNo: 2 as RunNo });
  const ended = (end: Partial<RunEnd>) => ({ ended: { status: "completed", endedAt: NOW, output: null, error: null, ...end } as RunEnd });
  assert.deepEqual(resolved(entry, "invoke", ended({ output: '{"x":1}' })), ["completed", '{"data":{"x":1}}', NOW]);
  const error = { name: "E", message: "m" };
  assert.deepEqual(resolved(entry, "invoke", ended({ status: "failed", error })), ["failed", JSON.stringify({ error }), NOW]);
  const [status, value] = resolved(entry, "invoke");
  assert.deepEqual([status, JSON.parse(value as string).error.name], ["failed", "InvocationLost"]);
});

test("a step that is gone or done changes nothing", () => {
  for (const kind of ["wake", "resume"] as const) {
    assert.deepEqual(change(due(kind), sampleState()), {});
    assert.deepEqual(change(due(kind), sampleState({ steps: [sampleStep(STEP, { status: "completed" })] })), {});
  }
});
