import assert from "node:assert/strict";
import { test } from "node:test";
import type { LeaseId, StepId } from "@inlet/protocol";
import { DISCOVERY_ENTRY, NOW, sampleState, sampleStep } from "../../../test/support/sample-state.ts";
import { decideCheckpoint, hasOtherResult, isSuperseded } from "./decide-checkpoint.ts";
import { type Operation, readOperations } from "./operations.ts";

const read = (list: object[]) => readOperations(JSON.stringify(list)) ?? [];

test("results are kept as they are handed in, each once", () => {
  const state = sampleState({ steps: [sampleStep("done", { status: "completed" })], entries: [{ ...DISCOVERY_ENTRY, attempt: 1 }] });
  const { change, refused } = decideCheckpoint(
    state,
    read([
      { op: "StepRun", id: "done", data: "other" },
      { op: "StepRun", id: "a", displayName: "A", data: { x: 1 } },
      { op: "StepFailed", id: "b", error: { name: "E", message: "m" } },
      { op: "StepPlanned", id: "c" },
    ]),
    NOW,
    { mayRepeat: true },
  );
  assert.equal(refused, null);
  assert.deepEqual(
    change.steps?.map(({ id, status, value, attempts }) => [id, status, value, attempts]),
    [
      ["a", "completed", '{"data":{"x":1}}', 1],
      ["b", "failed", '{"error":{"name":"E","message":"m"}}', 1],
    ],
  );
  assert.equal(change.entry, "reset-attempt", "the next step begins with its first attempt");
});

test("nothing is kept of what repeats a result, before it is known to be the same", () => {
  const state = sampleState({ steps: [sampleStep("done", { status: "completed" })] });
  const operations = read([
    { op: "StepRun", id: "done", data: "other" },
    { op: "StepRun", id: "a", data: 1 },
  ]);
  const outcome = decideCheckpoint(state, operations, NOW, { mayRepeat: false });
  assert.deepEqual(outcome, { change: { entry: "keep" }, refused: null, isRepeated: true });
  assert.equal(decideCheckpoint(state, operations.slice(1), NOW, { mayRepeat: false }).isRepeated, false);
});

test("a result is another one if its text differs from what is stored", () => {
  const [ran, failed] = read([
    { op: "StepRun", id: "a", data: { x: 1 } },
    { op: "StepFailed", id: "a", error: { name: "E", message: "m" } },
  ]) as [Operation, Operation];
  const stored = (value: string) => [{ id: "a" as StepId, value }];
  assert.equal(hasOtherResult(stored('{"data":{"x":1}}'), ran), false);
  assert.equal(hasOtherResult(stored('{"data":{"x":2}}'), ran), true);
  assert.equal(hasOtherResult(stored('{"error":{"name":"E","message":"m"}}'), failed), false);
  assert.equal(hasOtherResult(stored('{"data":{"x":1}}'), failed), true);
  assert.equal(hasOtherResult([], ran), false);
});

test("what would make the run too large is refused, and the call goes on", () => {
  const { change, refused } = decideCheckpoint(
    sampleState({ run: { stateBytes: 32 * 1024 * 1024 } }),
    read([{ op: "StepRun", id: "a", data: 1 }]),
    NOW,
    { mayRepeat: true },
  );
  assert.match(refused?.message ?? "", /32 MiB/);
  assert.deepEqual(change, { entry: "keep" });
});

test("a call is superseded once its lease is not the run's any more", () => {
  const state = sampleState({ entries: [{ ...DISCOVERY_ENTRY, leaseId: "01OTHER" as LeaseId }, DISCOVERY_ENTRY] });
  assert.equal(isSuperseded("01LEASE", state), false);
  assert.equal(isSuperseded("01GONE", state), true);
  assert.equal(isSuperseded("01LEASE", sampleState({ entries: [] })), true);
});

test("what is handed in counts the attempts of its step, not those of the function, and keeps its times and kind", () => {
  const entries = [
    { ...DISCOVERY_ENTRY, kind: "resume" as const, attempt: 7 },
    { ...DISCOVERY_ENTRY, stepId: "p" as StepId, attempt: 5 },
    { ...DISCOVERY_ENTRY, attempt: 1 },
  ];
  const ms = 1e6;
  const operations = read([
    { op: "StepRun", id: "a", data: 1, timing: { a: 3_000 * ms, b: 500 * ms }, opts: { type: "step.sendEvent" } },
    { op: "StepRun", id: "open", data: 1 },
  ]);
  const steps = [sampleStep("open", { status: "running", attempts: 1 })];
  const { change } = decideCheckpoint(sampleState({ entries, steps }), operations, NOW, { mayRepeat: false });
  assert.deepEqual(
    change.steps?.map(({ id, kind, attempts, startedAt, endedAt, until, detail }) => [
      id,
      kind,
      attempts,
      startedAt,
      endedAt,
      until,
      detail,
    ]),
    [
      ["a", "send", 1, 3_000, 3_500, null, null],
      ["open", "run", 2, NOW, NOW, null, null],
    ],
  );
  const none = decideCheckpoint(sampleState({ entries: [], run: { startedAt: null } }), operations, NOW, { mayRepeat: false }).change;
  assert.deepEqual([none.steps?.[0]?.attempts, none.steps?.[0]?.startedAt], [1, 3_000], "the run began when it was created, or later");
});
