import assert from "node:assert/strict";
import { test } from "node:test";
import { NOW, operations, sampleFacts, sampleState, sampleStep } from "../../../test/support/sample-state.ts";
import type { StepRecord, StepWrite } from "../../store/contract/index.ts";
import { decideCheckpoint } from "./decide-checkpoint.ts";
import { decideResponse } from "./decide-response.ts";
import { readOperations } from "./operations.ts";
import { overLimit, STATE_BYTES_MAX, STEPS_MAX } from "./run-limits.ts";

const done = (count: number): StepRecord[] => Array.from({ length: count }, (_, n) => sampleStep(`s${n}`, { status: "completed" }));

function written(id: string, value?: string): StepWrite {
  return { ...sampleStep(id, { status: "completed" }), ...(value !== undefined && { value }) };
}

const ran = (id: string) => ({ op: "StepRun", id, name: id, data: 1 });

test("a run may have exactly a thousand steps", () => {
  assert.equal(STEPS_MAX, 1_000);
  assert.equal(overLimit(sampleState({ steps: done(999) }), [written("last")]), null);
  assert.match(overLimit(sampleState({ steps: done(1_000) }), [written("one more")])?.message ?? "", /more than 1000 steps/);
  assert.match(overLimit(sampleState({ steps: done(999) }), [written("last"), written("one more")])?.message ?? "", /more than 1000 steps/);
});

test("a step the run has already is not counted again", () => {
  assert.equal(overLimit(sampleState({ steps: done(1_000) }), [written("s0"), written("s999")]), null);
});

test("the results of a run may have exactly 32 MiB", () => {
  const state = (stateBytes: number) => sampleState({ run: { stateBytes } });
  assert.equal(overLimit(state(STATE_BYTES_MAX - 4), [written("a", "12"), written("b", "34")]), null);
  assert.match(overLimit(state(STATE_BYTES_MAX - 4), [written("a", "12"), written("b", "345")])?.message ?? "", /more than 32 MiB/);
  assert.equal(overLimit(state(STATE_BYTES_MAX), [written("planned")]), null, "a step without a result holds nothing");
});

test("the thousandth step of a response is kept, and one more ends the run", () => {
  const kept = decideResponse(sampleState({ steps: done(999) }), operations([ran("last")]), sampleFacts());
  assert.deepEqual([kept.end, kept.steps?.map(({ id }) => id)], [undefined, ["last"]]);
  const { end } = decideResponse(sampleState({ steps: done(1_000) }), operations([ran("one more")]), sampleFacts());
  assert.equal(end?.status, "failed");
  assert.equal(end?.error?.name, "RunTooLarge");
});

test("steps handed in early are held to the same limit", () => {
  const early = (steps: number, ids: string[]) =>
    decideCheckpoint(sampleState({ steps: done(steps) }), readOperations(JSON.stringify(ids.map(ran))) ?? [], NOW, { mayRepeat: false });
  assert.deepEqual([early(998, ["a", "b"]).refused, early(998, ["a", "b"]).change.steps?.length], [null, 2]);
  assert.match(early(999, ["a", "b"]).refused?.message ?? "", /more than 1000 steps/);
});
