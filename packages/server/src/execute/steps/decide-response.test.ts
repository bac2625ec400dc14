import assert from "node:assert/strict";
import { test } from "node:test";
import type { EntryNo, LeaseId, StepId } from "@inlet/protocol";
import { NOW, operations, sampleFacts, sampleState, sampleStep } from "../../../test/support/sample-state.ts";
import type { EntryRecord, RunChange } from "../../store/contract/index.ts";
import { decideResponse } from "./decide-response.ts";

const call = (stepId: string | null, no = 1, attempt = 0): EntryRecord => ({
  no: no as EntryNo,
  kind: "call",
  stepId: stepId as StepId | null,
  attempt,
  claims: 1,
  leaseId: "01LEASE" as LeaseId,
  rank: 0,
  rediscovers: false,
  eventSequence: null,
});
const brief = ({ entries = [], steps = [] }: RunChange) => ({
  entries: entries.map(({ kind, stepId }) => `${kind} ${stepId ?? "-"}`),
  steps: steps.map(({ id, status }) => `${id} ${status}`),
});
const failure = {
  kind: "failed",
  error: { name: "E", message: "m" },
  mayRetry: true,
  retryAfterMs: null,
  httpStatus: 500,
  body: '{"a":1}',
} as const;

test("a result ends the run", () => {
  const change = decideResponse(sampleState(), { kind: "finished", output: "[1]" }, sampleFacts());
  assert.deepEqual([change.end?.status, change.end?.output], ["completed", "[1]"]);
});

test("the first response says when the run began, later ones leave it", () => {
  const first = decideResponse(sampleState({ run: { startedAt: null } }), operations([{ op: "None" }]), sampleFacts());
  assert.equal(first.startedAt, 9_000);
  assert.equal(decideResponse(sampleState(), { kind: "finished", output: "1" }, sampleFacts()).startedAt, 2_000);
});

test("steps that come with the end of the run are kept", () => {
  const response = operations([
    { op: "StepRun", id: "a", data: { x: 1 } },
    { op: "RunComplete", id: "complete", data: "done" },
  ]);
  const change = decideResponse(sampleState(), response, sampleFacts());
  assert.deepEqual(brief(change).steps, ["a completed"]);
  assert.deepEqual([change.steps?.[0]?.value, change.end?.output], ['{"data":{"x":1}}', '"done"']);
});

test("a failed call is tried again until there are no retries left", () => {
  const retried = decideResponse(sampleState({ entries: [call(null, 1, 1)] }), failure, sampleFacts());
  assert.deepEqual(retried.entry, { retryAt: NOW + 2_000, attempt: 2 });
  assert.equal(retried.attempts?.[0]?.attempt, 1);
  assert.equal(retried.end, undefined);
  const ended = decideResponse(sampleState({ entries: [call(null, 1, 2)] }), failure, sampleFacts());
  assert.deepEqual([ended.end?.status, ended.end?.error?.message, ended.end?.output], ["failed", "m", '{"a":1}']);
  assert.equal(ended.attempts?.length, 1);
});

test("a failed call that must not be tried again ends the run; one that says when is tried then", () => {
  assert.equal(decideResponse(sampleState(), { ...failure, mayRetry: false }, sampleFacts()).end?.status, "failed");
  assert.deepEqual(decideResponse(sampleState(), { ...failure, retryAfterMs: 77 }, sampleFacts()).entry, { retryAt: NOW + 77, attempt: 1 });
});

test("a finished step is kept, and the function asked what comes next", () => {
  const change = decideResponse(sampleState(), operations([{ op: "StepRun", id: "a", displayName: "A", data: 1 }]), sampleFacts());
  assert.deepEqual(brief(change), { entries: ["call -"], steps: ["a completed"] });
  assert.deepEqual([change.steps?.[0]?.name, change.steps?.[0]?.attempts, change.status], ["A", 1, "running"]);
});

test("a failing step is tried again with its run, then fails for good and the function may go on", () => {
  const error = { name: "E", message: "m" };
  const response = operations([{ op: "StepError", id: "a", error }]);
  const retried = decideResponse(sampleState(), response, sampleFacts());
  assert.deepEqual(retried.entry, { retryAt: NOW + 1_000, attempt: 1 });
  assert.deepEqual(brief(retried), { entries: [], steps: ["a running"] });
  const last = sampleState({ entries: [call(null, 1, 2)], steps: [sampleStep("a", { status: "running", attempts: 2 })] });
  const ended = decideResponse(last, response, sampleFacts());
  assert.deepEqual(brief(ended), { entries: ["call -"], steps: ["a failed"] });
  assert.deepEqual(JSON.parse(ended.steps?.[0]?.value ?? ""), { error });
  assert.equal(ended.end, undefined);
});

test("a step that must not be tried again has failed", () => {
  const response = operations([{ op: "StepError", id: "a", error: { message: "m" } }], { mayRetry: false });
  assert.deepEqual(brief(decideResponse(sampleState(), response, sampleFacts())).steps, ["a failed"]);
  const noError = decideResponse(sampleState(), operations([{ op: "StepFailed", id: "a" }]), sampleFacts());
  assert.equal(JSON.parse(noError.steps?.[0]?.value ?? "").error.message, "The step failed.");
});

test("what comes beside a failing step is begun nevertheless", () => {
  const response = operations([
    { op: "StepError", id: "a", error: { message: "m" } },
    { op: "StepPlanned", id: "b" },
    { op: "WaitForEvent", id: "w", name: "x/y" },
  ]);
  const change = decideResponse(sampleState(), response, sampleFacts());
  assert.deepEqual(brief(change), { entries: ["call b", "resume w"], steps: ["a running", "b planned", "w waiting"] });
  assert.equal(change.waits?.length, 1);
  assert.equal((change.entry as { attempt: number }).attempt, 1);
});

test("several steps are planned, each with a call of its own, and the SDK told to run nothing it finds", () => {
  const change = decideResponse(sampleState(), operations(["a", "b"].map((id) => ({ op: "StepPlanned", id }))), sampleFacts());
  assert.deepEqual(brief(change), { entries: ["call a", "call b"], steps: ["a planned", "b planned"] });
  assert.deepEqual([change.isParallel, change.status], [true, "running"]);
});

test("steps under way that are reported again change nothing", () => {
  const steps = [sampleStep("a"), sampleStep("s", { kind: "sleep", status: "sleeping" }), sampleStep("d", { status: "completed" })];
  const state = sampleState({ run: { isParallel: true }, steps, entries: [call(null), call("a", 2)] });
  const response = operations([
    { op: "StepPlanned", id: "a" },
    { op: "Sleep", id: "s", name: "5" },
    { op: "StepPlanned", id: "d" },
  ]);
  const change = decideResponse(state, response, sampleFacts());
  assert.deepEqual(brief(change), { entries: [], steps: [] });
  assert.deepEqual([change.end, change.entry, change.isParallel], [undefined, undefined, true]);
});

test("a result that was handed in before is kept as it was, and the function asked what comes next", () => {
  const state = sampleState({ steps: [sampleStep("d", { status: "completed" })] });
  const change = decideResponse(state, operations([{ op: "StepRun", id: "d", data: 1 }]), sampleFacts());
  assert.deepEqual(brief(change), { entries: ["call -"], steps: [] });
});

test("a result that was handed in before is not taken again, and the function is asked what comes next", () => {
  const state = sampleState({ steps: [sampleStep("d", { status: "completed" })] });
  const change = decideResponse(state, operations([{ op: "StepRun", id: "d", data: 1 }]), sampleFacts());
  assert.deepEqual(brief(change), { entries: ["call -"], steps: [] });
  assert.equal(change.entry, undefined);
});

test("a step that failed where it was found may be planned after all", () => {
  const state = sampleState({ steps: [sampleStep("a", { status: "running" })] });
  assert.deepEqual(brief(decideResponse(state, operations([{ op: "StepPlanned", id: "a" }]), sampleFacts())).entries, ["call a"]);
});

test("parallel steps: SDKs of version 2 are asked once all are done, others after each", () => {
  const entries = [call("a", 1), call("b", 2)];
  const steps = [sampleStep("a"), sampleStep("b")];
  const response = operations([{ op: "StepRun", id: "a", data: 1 }]);
  const decide = (requestVersion: number, open = steps) =>
    decideResponse(sampleState({ run: { requestVersion, isParallel: true }, steps: open, entries }), response, sampleFacts());
  assert.deepEqual([brief(decide(2)).entries, decide(2).isParallel], [[], true]);
  assert.deepEqual([brief(decide(1)).entries, decide(1).isParallel], [["call -"], true]);
  const last = decide(2, [sampleStep("a"), sampleStep("b", { status: "completed" })]);
  assert.deepEqual([brief(last).entries, last.isParallel], [["call -"], false]);
});

test("of steps that race, the function wants to know about each at once", () => {
  const state = sampleState({ run: { isParallel: true }, steps: [sampleStep("a"), sampleStep("b")], entries: [call("a"), call("b", 2)] });
  const response = operations([{ op: "StepRun", id: "a", data: 1, opts: { parallelMode: "race" } }]);
  assert.deepEqual(brief(decideResponse(state, response, sampleFacts())).entries, ["call -"]);
});

test("sleeps, waits and invocations leave the run at rest", () => {
  const decide = (operation: object) => decideResponse(sampleState(), operations([operation]), sampleFacts());
  const sleep = decide({ op: "Sleep", id: "s", name: "250" });
  assert.deepEqual([brief(sleep).entries, sleep.status, sleep.entries?.[0]?.dueAt], [["wake s"], "sleeping", NOW + 250]);
  const wait = decide({ op: "WaitForEvent", id: "w", name: "x/y" });
  assert.deepEqual([brief(wait).entries, wait.status, wait.waits?.length], [["resume w"], "waiting", 1]);
  const invoke = decide({ op: "InvokeFunction", id: "i", name: "other" });
  assert.deepEqual([brief(invoke).entries, invoke.status, invoke.steps?.[0]?.detail], [["resume i"], "waiting", "01CHILD"]);
});

test("an invocation of nobody fails its step, a sleep that makes no sense the run", () => {
  const invoke = decideResponse(sampleState(), operations([{ op: "InvokeFunction", id: "i", name: "nobody" }]), sampleFacts());
  assert.deepEqual(brief(invoke), { entries: ["call -"], steps: ["i failed"] });
  const sleep = decideResponse(sampleState(), operations([{ op: "Sleep", id: "s", name: "bad", displayName: "Nap" }]), sampleFacts());
  assert.equal(sleep.end?.error?.message, 'The step "Nap" cannot be run: it is bad.');
});

test("a response that leads nowhere is tried again, and fails the run in the end", () => {
  for (const nothing of [operations([]), operations([{ op: "None" }])]) {
    assert.deepEqual(decideResponse(sampleState(), nothing, sampleFacts()).entry, { retryAt: NOW + 1_000, attempt: 1 });
    const ended = decideResponse(sampleState({ entries: [call(null, 1, 2)] }), nothing, sampleFacts());
    assert.equal(ended.end?.error?.name, "NothingToDo");
  }
});

test("an SDK that wants to be called again is, as long as it gets somewhere", () => {
  const response = operations([{ op: "DiscoveryRequest", id: "x" }]);
  const state = sampleState({ steps: [sampleStep("a", { status: "completed" })] });
  assert.deepEqual(brief(decideResponse(state, response, sampleFacts({ stepsGiven: 0 }))).entries, ["call -"]);
  assert.deepEqual(decideResponse(state, response, sampleFacts({ stepsGiven: 1 })).entry, { retryAt: NOW + 1_000, attempt: 1 });
});

test("a response that repeats what has ended meanwhile is out of date, and costs no attempt", () => {
  const steps = ["a", "b"].map((id) => sampleStep(id, { status: "completed" }));
  for (const op of ["StepPlanned", "StepRun"]) {
    const response = operations([
      { op, id: "a", data: 1 },
      { op, id: "b", data: 1 },
    ]);
    const late = decideResponse(sampleState({ steps, entries: [call(null, 1, 2)] }), response, sampleFacts({ stepsGiven: 1 }));
    assert.deepEqual([brief(late).entries, late.entry, late.end, late.attempts], [["call -"], undefined, undefined, []]);
    const stuck = decideResponse(sampleState({ steps, entries: [call(null, 1, 2)] }), response, sampleFacts({ stepsGiven: 2 }));
    assert.equal(stuck.end?.error?.name, "NothingToDo", "told of both, it should have gone on");
  }
});

test("an SDK that cannot fetch what does not fit fails the run at once, and says why", () => {
  const state = sampleState({ steps: [sampleStep("a", { status: "completed" })] });
  const change = decideResponse(
    state,
    operations([{ op: "StepRun", id: "a", data: 1 }]),
    sampleFacts({ stepsGiven: 1, fetchesState: true }),
  );
  assert.equal(change.end?.error?.name, "StateNotFetched");
});

test("a call for one step that brings no end of it is tried again, whatever else it brings", () => {
  const entries = [call("a", 1), call("b", 2)];
  const steps = [sampleStep("a"), sampleStep("b")];
  const decide = (response: object[], attempt = 0) =>
    decideResponse(sampleState({ steps, entries: [call("a", 1, attempt), ...entries.slice(1)] }), operations(response), sampleFacts());
  for (const response of [[], [{ op: "StepPlanned", id: "c" }], [{ op: "StepRun", id: "b", data: 1 }]]) {
    assert.deepEqual(decide(response).entry, { retryAt: NOW + 1_000, attempt: 1 });
    assert.equal(decide(response, 2).end?.error?.name, "NothingToDo");
  }
  assert.deepEqual(brief(decide([{ op: "StepPlanned", id: "c" }])).entries, ["call c"]);
});

test("a run with nothing left that could move it on does not rest for ever", () => {
  // A step that failed where it was found is open, but only this call was to run it again.
  const state = sampleState({ steps: [sampleStep("a", { status: "running" })] });
  assert.deepEqual(decideResponse(state, operations([]), sampleFacts()).entry, { retryAt: NOW + 1_000, attempt: 1 });
  const timer: EntryRecord = { ...call(null, 2), kind: "finish-by" };
  assert.ok(decideResponse(sampleState({ entries: [call(null), timer] }), operations([]), sampleFacts()).entry, "a deadline moves nothing");
  const nap: EntryRecord = { ...call("s", 2), kind: "wake" };
  assert.equal(decideResponse(sampleState({ entries: [call(null), nap] }), operations([]), sampleFacts()).entry, undefined);
});

test("the times of a step are the app's, unless its clock is wrong", () => {
  const timesOf = (timing: unknown) => {
    const [step] = decideResponse(sampleState(), operations([{ op: "StepRun", id: "a", data: 1, timing }]), sampleFacts()).steps ?? [];
    return [step?.startedAt, step?.endedAt];
  };
  assert.deepEqual(timesOf({ a: 9_100e6, b: 300e6 }), [9_100, 9_400]);
  for (const wrong of [undefined, null, "soon", { a: 1 }, { a: 8_999e6, b: 10e6 }, { a: 9_100e6, b: 901e6 }, { a: 9_100e6, b: -1e6 }]) {
    assert.deepEqual(timesOf(wrong), [9_000, NOW]);
  }
});

test("a run with too many steps, or too much in them, is ended with a reason", () => {
  const many = Array.from({ length: 1_001 }, (_, n) => ({ op: "StepPlanned", id: `s${n}` }));
  assert.match(decideResponse(sampleState(), operations(many), sampleFacts()).end?.error?.message ?? "", /more than 1000 steps/);
  const full = sampleState({ run: { stateBytes: 32 * 1024 * 1024 } });
  const change = decideResponse(full, operations([{ op: "StepRun", id: "a", data: 1 }]), sampleFacts());
  assert.match(change.end?.error?.message ?? "", /more than 32 MiB/);
});
