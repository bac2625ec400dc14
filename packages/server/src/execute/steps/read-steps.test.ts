/** What a response of several operations leads to, where decide-response.test.ts looks at one. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { EntryNo, EventId, StepId } from "@inlet/protocol";
import { DISCOVERY_ENTRY, NOW, operations, sampleFacts, sampleState, sampleStep } from "../../../test/support/sample-state.ts";
import type { EntryRecord, RunState, StepRecord } from "../../store/contract/index.ts";
import type { CallFacts, CallResponseOf } from "./call-response.ts";
import { OperationsReader } from "./read-steps.ts";

function entry(kind: EntryRecord["kind"], stepId: string | null, no: number, attempt = 0): EntryRecord {
  return { ...DISCOVERY_ENTRY, kind, stepId: stepId as StepId | null, no: no as EntryNo, attempt };
}

const DISCOVERY = entry("call", null, 1);

function read(state: RunState, list: object[], facts: Partial<CallFacts> = {}, given: Partial<CallResponseOf<"operations">> = {}) {
  return new OperationsReader(state, operations(list, given) as CallResponseOf<"operations">, sampleFacts(facts)).read();
}

const entriesOf = ({ entries = [] }: ReturnType<typeof read>) => entries.map(({ kind, stepId }) => `${kind} ${stepId ?? "-"}`);

test("an operation nobody knows fails the run by its name", () => {
  const { end } = read(sampleState(), [{ op: "Teleport", id: "a" }]);
  assert.deepEqual(end?.error, {
    name: "UnsupportedOperation",
    message: 'The SDK asked for "teleport", which this service does not support.',
  });
});

test("what a step that cannot be taken is called, and why", () => {
  const { end } = read(sampleState(), [{ op: "WaitForEvent", id: "w", name: "x", displayName: "Paid" }], {
    wait: () => "it names no event.",
  });
  assert.deepEqual(end?.error, { name: "InvalidStep", message: 'The step "Paid" cannot be run: it names no event.' });
});

test("a step that is written holds who it is, when it began and what it waits for", () => {
  const [sleep] = read(sampleState(), [{ op: "Sleep", id: "s", name: "5", displayName: "Nap" }]).steps ?? [];
  assert.deepEqual(sleep, {
    id: "s",
    name: "Nap",
    kind: "sleep",
    status: "sleeping",
    startedAt: 9_000,
    endedAt: null,
    attempts: 1,
    until: NOW + 5,
    detail: null,
  });
  const [wait] = read(sampleState(), [{ op: "WaitForEvent", id: "w", name: "x/y" }]).steps ?? [];
  assert.deepEqual([wait?.kind, wait?.status, wait?.until, wait?.detail], ["wait", "waiting", NOW + 500, "x/y"]);
  const [invoke] = read(sampleState(), [{ op: "InvokeFunction", id: "i", name: "fn" }]).steps ?? [];
  assert.deepEqual([invoke?.kind, invoke?.until, invoke?.detail, invoke?.eventId], ["invoke", NOW + 900, "01CHILD", "01E"]);
  const [send] = read(sampleState(), [{ op: "StepRun", id: "e", data: 1, opts: { type: "step.sendEvent" } }]).steps ?? [];
  assert.deepEqual([send?.kind, send?.status, send?.attempts], ["send", "completed", 1]);
  const [refused] = read(sampleState(), [{ op: "InvokeFunction", id: "i", name: "nobody" }]).steps ?? [];
  assert.deepEqual([refused?.kind, refused?.status, refused?.endedAt], ["invoke", "failed", NOW]);
  assert.deepEqual(JSON.parse(refused?.value ?? ""), { error: { name: "InvocationError", message: "there is none." } });
});

test("what a step did lies within its call, however late the response is decided about and whatever the app's clock says", () => {
  const timesOf = (from: number, ms: number) => {
    const list = [{ op: "StepRun", id: "a", data: 1, timing: { a: from * 1e6, b: ms * 1e6 } }];
    const [step] = read(sampleState(), list, { startedAt: 9_000, endedAt: 9_100, now: 9_900 }).steps ?? [];
    return [step?.startedAt, step?.endedAt];
  };
  assert.deepEqual(timesOf(9_020, 30), [9_020, 9_050]);
  for (const from of [8_990, 9_080, 9_500]) assert.deepEqual(timesOf(from, 30), [9_000, 9_100]);
});

test("an invocation brings its events, and a fault of the run brings none", () => {
  const events = [{ events: [] }] as never;
  const invoke = { invoke: () => ({ childRunId: null, eventId: "01E" as EventId, expiresAt: NOW, events }) };
  assert.deepEqual(read(sampleState(), [{ op: "InvokeFunction", id: "i" }], invoke).events, events);
  assert.deepEqual(read(sampleState(), [{ op: "None" }, { op: "Sleep", id: "s", name: "1" }]).events, []);
});

test("a step that failed in a call of its own stays planned for the next one; one met on the way is running", () => {
  const failing = [{ op: "StepError", id: "a", error: { message: "m" } }];
  const planned = sampleState({ steps: [sampleStep("z"), sampleStep("a")], entries: [entry("call", "a", 1, 1)] });
  const again = read(planned, failing);
  assert.deepEqual(
    [again.steps?.[0]?.status, again.steps?.[0]?.attempts, again.entry],
    ["planned", 2, { retryAt: NOW + 2_000, attempt: 2 }],
  );
  const found = read(sampleState({ steps: [sampleStep("z")] }), failing);
  assert.deepEqual([found.steps?.[0]?.status, found.steps?.[0]?.attempts], ["running", 1]);
  const wasRunning = read(sampleState({ steps: [sampleStep("a", { status: "running" })] }), failing);
  assert.equal(wasRunning.steps?.[0]?.status, "running");
});

test("a step has all its retries, however often the function failed before it", () => {
  const fail = (known: StepRecord[], attempt: number) =>
    read(sampleState({ entries: [entry("call", null, 1, attempt)], steps: known }), [
      { op: "StepError", id: "a", error: { message: "m" } },
    ]);
  const failed = (attempts: number, id = "a") => [sampleStep(id, { status: "running", attempts })];
  const first = fail([], 2);
  assert.deepEqual([first.steps?.[0]?.attempts, first.attempts?.[0]?.attempt, first.entry], [1, 0, { retryAt: NOW + 1_000, attempt: 1 }]);
  const second = fail(failed(1), 2);
  assert.deepEqual([second.steps?.[0]?.attempts, second.entry], [2, { retryAt: NOW + 2_000, attempt: 2 }]);
  const last = fail(failed(2), 2);
  assert.deepEqual([last.steps?.[0]?.status, last.steps?.[0]?.attempts, last.entry], ["failed", 3, undefined]);
  const [done] = read(sampleState({ entries: [entry("call", null, 1, 2)] }), [{ op: "StepRun", id: "a", data: 1 }]).steps ?? [];
  assert.equal(done?.attempts, 1);
  assert.equal(fail(failed(2, "another"), 2).steps?.[0]?.status, "failed", "an id that changes with each call ends, too");
});

test("a failing step leaves a note of the attempt, whether it is tried again or not", () => {
  const attempts = (op: string, mayRetry: boolean) =>
    read(sampleState(), [{ op, id: "a", error: { name: "E", message: "m" } }], {}, { mayRetry }).attempts;
  const note = [{ stepId: "a", attempt: 0, startedAt: 9_000, endedAt: NOW, httpStatus: null, error: { name: "E", message: "m" } }];
  assert.deepEqual(attempts("StepError", true), note);
  assert.deepEqual(attempts("StepError", false), note);
  assert.deepEqual(attempts("StepFailed", true), note);
  assert.equal(read(sampleState(), [{ op: "StepError", id: "a" }]).attempts?.[0]?.error.message, "The step failed.");
});

test("a step met before is planned once: not again while its call is there", () => {
  const running = sampleStep("a", { status: "running" });
  const plan = [{ op: "StepPlanned", id: "a" }];
  assert.deepEqual(entriesOf(read(sampleState({ steps: [running] }), plan)), ["call a"]);
  const called = sampleState({ steps: [running], entries: [DISCOVERY, entry("call", "a", 2)] });
  assert.deepEqual(entriesOf(read(called, plan)), []);
  const others = [DISCOVERY, entry("call", "b", 2), entry("resume", "a", 3)];
  assert.deepEqual(entriesOf(read(sampleState({ steps: [running, sampleStep("b")], entries: others }), plan)), ["call a"]);
  const asleep = sampleState({
    steps: [sampleStep("a", { kind: "sleep", status: "sleeping" })],
    entries: [DISCOVERY, entry("wake", "a", 2)],
  });
  assert.deepEqual(entriesOf(read(asleep, plan)), [], "only a step that ran is planned");
  const waiting = sampleState({ steps: [running], entries: [DISCOVERY, entry("wake", "x", 2)] });
  assert.deepEqual(entriesOf(read(waiting, [{ op: "Sleep", id: "a", name: "1" }])), [], "only planning begins it anew");
});

test("a run with something under way is left alone, and is running while a call is", () => {
  const nothing = [{ op: "None" }];
  const rest = (entries: EntryRecord[], steps = [sampleStep("s", { kind: "sleep", status: "sleeping" })]) =>
    read(sampleState({ entries: [DISCOVERY, ...entries], steps }), nothing);
  assert.deepEqual([rest([entry("wake", "s", 2)]).status, rest([entry("wake", "s", 2)]).entry], ["sleeping", undefined]);
  assert.equal(rest([entry("call", "x", 2)]).status, "running");
  assert.equal(rest([entry("resume", "s", 2)]).status, "sleeping");
  for (const kind of ["cancel", "start-by", "finish-by"] as const)
    assert.deepEqual(rest([entry(kind, null, 2)]).entry, { retryAt: NOW + 1_000, attempt: 1 }, `${kind} moves nothing on`);
  assert.deepEqual(read(sampleState({ entries: [DISCOVERY] }), nothing).entry, { retryAt: NOW + 1_000, attempt: 1 });
});

test("a run becomes parallel with a second operation, and stays so", () => {
  const sleep = (id: string) => ({ op: "Sleep", id, name: "5" });
  assert.equal(read(sampleState(), [sleep("a")]).isParallel, false);
  assert.equal(read(sampleState(), [sleep("a"), sleep("b")]).isParallel, true);
  assert.equal(read(sampleState({ run: { isParallel: true } }), [sleep("a")]).isParallel, true);
  const done = { op: "StepRun", id: "d", data: 1 };
  const plan = (id: string) => ({ op: "StepPlanned", id });
  assert.equal(read(sampleState(), [done, plan("a")]).isParallel, false);
  assert.equal(read(sampleState(), [done, plan("a"), plan("b")]).isParallel, true);
  const underWay = sampleState({ run: { isParallel: true }, steps: [sampleStep("p")], entries: [DISCOVERY, entry("call", "p", 2)] });
  assert.equal(read(underWay, [done]).isParallel, true);
});

test("an SDK that asks to be called at once is, when something has begun or ended", () => {
  const ask = { op: "DiscoveryRequest", id: "x" };
  assert.deepEqual(entriesOf(read(sampleState(), [ask, { op: "Sleep", id: "s", name: "5" }])), ["wake s", "call -"]);
  assert.deepEqual(entriesOf(read(sampleState(), [ask, { op: "StepRun", id: "a", data: 1 }])), ["call -"]);
  const planned = { op: "StepPlanned", id: "a" };
  assert.deepEqual(entriesOf(read(sampleState(), [ask, planned])), ["call a", "call -"]);
  assert.deepEqual(entriesOf(read(sampleState(), [planned])), ["call a"]);
});

test("a call for one step that brings neither its end nor its error is tried again", () => {
  const state = (steps = [sampleStep("b", { status: "completed" }), sampleStep("a")]) =>
    sampleState({ steps, entries: [entry("call", "a", 1)] });
  const begun = read(state(), [{ op: "Sleep", id: "s", name: "5" }], { stepsGiven: 1 });
  assert.deepEqual([begun.entry, entriesOf(begun)], [{ retryAt: NOW + 1_000, attempt: 1 }, ["wake s"]]);
  assert.deepEqual(
    begun.attempts?.map(({ stepId, error }) => [stepId, error.name]),
    [["a", "NothingToDo"]],
  );
  const ended = read(state([sampleStep("a", { status: "completed" })]), [{ op: "None" }], { stepsGiven: 0 });
  assert.deepEqual([ended.entry, entriesOf(ended)], [undefined, ["call -"]], "it ended elsewhere");
  const gone = read(state([]), [{ op: "Sleep", id: "s", name: "5" }]);
  assert.deepEqual([gone.entry, entriesOf(gone)], [undefined, ["wake s"]], "the step is not there");
  const tried = read(state(), [{ op: "StepError", id: "a" }], { stepsGiven: 1 });
  assert.equal(tried.attempts?.length, 1, "one note, of the step");
});

test("what an SDK repeated because it could not fetch its state ends the run, attempts left or not", () => {
  const state = sampleState({ steps: [sampleStep("a", { status: "completed" })] });
  const { end, attempts } = read(state, [{ op: "None" }], { stepsGiven: 1, fetchesState: true });
  assert.deepEqual([end?.status, end?.error?.name, attempts?.length], ["failed", "StateNotFetched", 1]);
  assert.match(end?.error?.message ?? "", /too large for one call, and the SDK did not fetch them/);
  const nothing = read(sampleState({ entries: [entry("call", null, 1, 2)] }), [{ op: "None" }]);
  assert.equal(nothing.end?.error?.message, "The app returned neither a result nor a new step: check its SDK and any proxy before it.");
});

test("a response is decided on with its entry, or not at all", () => {
  const state = sampleState({ entries: [entry("call", null, 5)] });
  assert.throws(() => read(state, [{ op: "None" }]), /a response was decided on without its entry/);
});
