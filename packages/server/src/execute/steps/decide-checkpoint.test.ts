import assert from "node:assert/strict";
import { test } from "node:test";
import { DISCOVERY_ENTRY, NOW, sampleState, sampleStep } from "../../../test/support/sample-state.ts";
import { decideCheckpoint } from "./decide-checkpoint.ts";
import { readOperations } from "./operations.ts";

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
  );
  assert.equal(refused, null);
  assert.deepEqual(
    change.steps?.map(({ id, status, value, attempts }) => [id, status, value, attempts]),
    [
      ["a", "completed", '{"data":{"x":1}}', 2],
      ["b", "failed", '{"error":{"name":"E","message":"m"}}', 1],
    ],
  );
  assert.equal(change.entry, "reset-attempt", "the next step begins with its first attempt");
});

test("what would make the run too large is refused, and the call goes on", () => {
  const { change, refused } = decideCheckpoint(
    sampleState({ run: { stateBytes: 32 * 1024 * 1024 } }),
    read([{ op: "StepRun", id: "a", data: 1 }]),
    NOW,
  );
  assert.match(refused?.message ?? "", /32 MiB/);
  assert.deepEqual(change, { entry: "keep" });
});
