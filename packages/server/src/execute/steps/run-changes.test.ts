import assert from "node:assert/strict";
import { test } from "node:test";
import type { StepId } from "@inlet/protocol";
import { NOW, sampleState, sampleStep } from "../../../test/support/sample-state.ts";
import { cancelRun, completeRun, failRun, resolveStep, restingStatus } from "./run-changes.ts";

const result = { id: "w" as StepId, status: "completed", value: "null" } as const;

test("a step that waited is done: its timer and wait go, and the function is asked", () => {
  const change = resolveStep(sampleState({ steps: [sampleStep("w", { kind: "wait", status: "waiting" })], entries: [] }), result, NOW);
  assert.deepEqual(change.settled, ["w"]);
  assert.deepEqual(change.entries, [{ kind: "call", stepId: null }]);
  assert.deepEqual([change.steps?.[0]?.status, change.steps?.[0]?.value, change.steps?.[0]?.endedAt], ["completed", "null", NOW]);
});

test("a step is done once: what comes later changes nothing, and neither does a step nobody knows", () => {
  assert.deepEqual(resolveStep(sampleState({ steps: [sampleStep("w", { status: "completed" })] }), result, NOW), {});
  assert.deepEqual(resolveStep(sampleState(), result, NOW), {});
});

test("a timeout does not wait for the step it limits, and steps stay planned meanwhile", () => {
  const steps = [sampleStep("w", { kind: "sleep", status: "sleeping" }), sampleStep("slow")];
  const change = resolveStep(sampleState({ run: { isParallel: true }, steps }), result, NOW);
  assert.deepEqual([change.entries?.length, change.isParallel], [1, true]);
});

test("a run at rest is waiting if anything of it waits, else sleeping", () => {
  const open = (status: "waiting" | "sleeping") => ({ status, endedAt: null });
  assert.equal(restingStatus([open("sleeping"), open("waiting")]), "waiting");
  assert.equal(restingStatus([open("sleeping"), { status: "completed", endedAt: 1 }]), "sleeping");
  assert.equal(restingStatus([]), "running");
});

test("the events of an end go with it", () => {
  const batch = { events: [] } as never;
  const ends = [
    completeRun(sampleState(), '{"a":1}', NOW, () => [batch]),
    failRun(sampleState(), { name: "E", message: "m" }, NOW, () => [batch]),
    cancelRun(sampleState(), NOW, () => [batch], "why"),
  ];
  assert.deepEqual(
    ends.map(({ end }) => [end?.status, end?.output, end?.error]),
    [
      ["completed", '{"a":1}', null],
      ["failed", null, { name: "E", message: "m" }],
      ["cancelled", null, { name: "RunCancelled", message: "why" }],
    ],
  );
  assert.ok(ends.every(({ events }) => events?.[0] === batch));
});
