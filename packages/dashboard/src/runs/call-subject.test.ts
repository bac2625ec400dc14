import assert from "node:assert/strict";
import { test } from "node:test";
import type { Run, RunCall } from "../api/types.ts";
import { callSubject } from "./call-subject.ts";

const at = (ms: number) => new Date(ms).toISOString();

function call(from: number, to: number, given: string[] = [], stepId: string | null = null): RunCall {
  return { stepId, startedAt: at(from), endedAt: at(to), request: { method: "POST", path: "/", steps: given } } as RunCall;
}

function subjects(calls: RunCall[], starts: Record<string, number | null>): string[] {
  const steps = Object.entries(starts).map(([id, ms]) => ({ id, name: id.toUpperCase(), startedAt: ms === null ? null : at(ms) }));
  const run = { calls, steps: steps as Run["steps"] };
  return calls.map((each) => callSubject(run, each));
}

test("a call is named after the steps reached during it, or the step requested", () => {
  assert.deepEqual(subjects([call(1, 5), call(6, 9, ["a"]), call(10, 12, ["a", "b"])], { a: 3, b: 6 }), ["A", "B", "Function"]);
  assert.deepEqual(subjects([call(1, 5), call(6, 9, [], "b")], { a: 2, b: 2 }), ["A, B", "B"]);
  assert.deepEqual(subjects([call(1, 5), call(6, 9, [], "gone")], { a: null }), ["Function", "gone"]);
});

test("calls and steps in the same millisecond are told apart by what the calls were given", () => {
  const calls = [call(5, 5), call(5, 5, ["a"]), call(5, 5, ["a", "b"])];
  assert.deepEqual(subjects(calls, { a: 5, b: 5 }), ["A", "B", "Function"]);
});
