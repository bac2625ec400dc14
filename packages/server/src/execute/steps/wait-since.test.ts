import assert from "node:assert/strict";
import { test } from "node:test";
import type { StepKind } from "../../store/contract/index.ts";
import { type WaitingCall, waitSince } from "./wait-since.ts";

const ended = (kind: StepKind, endedAt: number | null, donePosition: number | null = 0) => ({ kind, endedAt, donePosition });

/** The call began at 60, and was given two results. */
function since(changes: Partial<Pick<WaitingCall, "steps" | "ownSteps" | "isPlanning">> & { isParallel?: boolean }): number {
  const { isParallel = false, isPlanning = isParallel, steps = [], ownSteps = [] } = changes;
  return waitSince({ run: { startedAt: 10, isParallel }, steps, ownSteps, stepsGiven: 2, isPlanning, startedAt: 60 });
}

test("events count since the step before ended, whatever order steps are listed in", () => {
  assert.equal(since({ steps: [ended("run", 50, 1), ended("sleep", 30), ended("run", null, null)] }), 50);
  assert.equal(since({ steps: [ended("run", 50)], ownSteps: [ended("run", 70)] }), 70, "one that the response brings itself counts");
});

test("a wait that the call was told of was before, also one that an event ended in the same instant", () => {
  assert.equal(since({ steps: [ended("run", 50), ended("wait", 61, 1)] }), 61);
});

test("steps that were handed in during the call were before; what ended meanwhile in other ways was not", () => {
  assert.equal(since({ steps: [ended("run", 50), ended("run", 70, 2)] }), 70);
  for (const kind of ["sleep", "wait", "invoke"] as const) assert.equal(since({ steps: [ended("run", 50), ended(kind, 70, 2)] }), 50);
  assert.equal(
    since({ isParallel: true, steps: [ended("run", 50), ended("run", 70, 2)] }),
    50,
    "of parallel steps another call brought it",
  );
  const last = [ended("run", 50), ended("run", 70, 2)];
  assert.equal(since({ isPlanning: true, steps: last }), 50, "also if it was the last of them");
});

test("after a step that sends, they count since the one before that: the response may be quicker than the step", () => {
  assert.equal(since({ steps: [ended("run", 20), ended("send", 30, 1), ended("send", 40, 2)] }), 20);
  assert.equal(since({ steps: [ended("send", 30)] }), 10);
});

test("without a step before, they count since the run began", () => {
  assert.equal(since({}), 10);
  assert.equal(
    waitSince({ run: { startedAt: null, isParallel: false }, steps: [], ownSteps: [], stepsGiven: 0, isPlanning: false, startedAt: 40 }),
    40,
  );
});
