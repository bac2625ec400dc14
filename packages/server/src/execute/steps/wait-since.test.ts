import assert from "node:assert/strict";
import { test } from "node:test";
import type { StepKind } from "../../store/contract/index.ts";
import { type WaitingCall, waitSince } from "./wait-since.ts";

const ended = (kind: StepKind, endedAt: number | null) => ({ kind, endedAt });

function since(changes: Partial<Omit<WaitingCall, "run">> & Partial<WaitingCall["run"]>): number {
  const { startedAt = 60, isParallel = false, steps = [], ownSteps = [] } = changes;
  return waitSince({ run: { startedAt: 10, isParallel }, steps, ownSteps, startedAt: startedAt ?? 60 });
}

test("events count since the step before ended, whatever order steps are listed in", () => {
  assert.equal(since({ steps: [ended("run", 50), ended("sleep", 30), ended("run", null)] }), 50);
  assert.equal(since({ steps: [ended("run", 50)], ownSteps: [ended("run", 70)] }), 70, "one that the answer brings itself counts");
});

test("steps that were handed in during the call were before; what ended meanwhile in other ways was not", () => {
  assert.equal(since({ steps: [ended("run", 50), ended("run", 70)] }), 70);
  for (const kind of ["sleep", "wait", "invoke"] as const) assert.equal(since({ steps: [ended("run", 50), ended(kind, 70)] }), 50);
  assert.equal(since({ isParallel: true, steps: [ended("run", 50), ended("run", 70)] }), 50, "of parallel steps another call brought it");
});

test("after a step that sends, they count since the one before that: the answer may be quicker than the step", () => {
  assert.equal(since({ steps: [ended("run", 20), ended("send", 30), ended("send", 40)] }), 20);
  assert.equal(since({ steps: [ended("send", 30)] }), 10);
});

test("without a step before, they count since the run began", () => {
  assert.equal(since({}), 10);
  assert.equal(waitSince({ run: { startedAt: null, isParallel: false }, steps: [], ownSteps: [], startedAt: 40 }), 40);
});
