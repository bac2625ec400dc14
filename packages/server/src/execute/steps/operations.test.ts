import assert from "node:assert/strict";
import { test } from "node:test";
import { errorValue, isRacing, isResult, isSend, type Operation, readError, readOperations, stepTimes } from "./operations.ts";

const one = (fields: object): Operation => (readOperations(JSON.stringify(fields)) as Operation[])[0] as Operation;

test("a response is one operation or an array of them, and nothing else", () => {
  assert.equal(readOperations('{"op":"None"}')?.length, 1);
  assert.equal(readOperations('[{"op":"None"},{"op":"Step"}]')?.length, 2);
  assert.deepEqual(readOperations("[]"), []);
  for (const text of ["", "1", '"op"', "null", "[1]", '[{"op":"None"},null]', '[{"op":"None"},{"id":"a"}]', '{"op":1}', "{"])
    assert.equal(readOperations(text), null, text);
});

test("fields that are absent, null or of another type have their default", () => {
  const bare = { id: "", name: "", displayName: "", opts: {}, optsText: null, data: "null", error: null, ran: null };
  assert.deepEqual(one({ op: "StepRun" }), { op: "steprun", ...bare });
  const nulls = { op: "StepRun", id: null, name: null, displayName: null, opts: null, data: null, error: null, timing: null };
  assert.deepEqual(one(nulls), { op: "steprun", ...bare });
  const others = one({ op: "StepRun", id: 1, name: 2, displayName: {}, opts: 7, timing: 8 });
  assert.deepEqual(others, { op: "steprun", ...bare, optsText: "7" });
});

test("values are kept as they were written, and the last of equal fields counts", () => {
  const text = '{"op":"STEPRUN","id":"a","name":"n","opts":{"x": 1},"data":{"big":12345678901234567890},"error":{"e": 1},"id":"b"}';
  const [operation] = readOperations(text) as [Operation];
  assert.deepEqual([operation.op, operation.id, operation.displayName], ["steprun", "b", "n"], "the name is shown where no other is given");
  assert.deepEqual([operation.opts, operation.optsText], [{ x: 1 }, '{"x": 1}']);
  assert.deepEqual([operation.data, operation.error], ['{"big":12345678901234567890}', '{"e": 1}']);
  assert.equal(one({ op: "Step", name: "n", displayName: "shown" }).displayName, "shown");
});

test("a step's own times are taken where they fit into the call", () => {
  const call = { from: 100, to: 200 };
  const timed = (a: unknown, b: unknown) => stepTimes(one({ op: "Step", timing: { a, b } }), call);
  const ms = 1e6;
  assert.deepEqual(timed(120 * ms, 30 * ms), { startedAt: 120, endedAt: 150 });
  assert.deepEqual(timed(120.9 * ms, 30.2 * ms), { startedAt: 120, endedAt: 151 }, "whole milliseconds");
  assert.deepEqual(timed(100 * ms, 100 * ms), { startedAt: 100, endedAt: 200 });
  const unknown = { startedAt: 100, endedAt: 200 };
  assert.deepEqual(timed(99 * ms, 30 * ms), unknown, "before the call");
  assert.deepEqual(timed(150 * ms, 51 * ms), unknown, "after the call");
  assert.deepEqual(timed(150 * ms, -10 * ms), unknown, "backwards");
  for (const [a, b] of [
    ["120", 30 * ms],
    [120 * ms, null],
    [undefined, undefined],
  ])
    assert.deepEqual(timed(a, b), unknown);
  assert.deepEqual(stepTimes(one({ op: "Step" }), call), unknown);
  assert.deepEqual(timed(150 * ms, 0), { startedAt: 150, endedAt: 150 }, "no time at all");
});

test("which operations are results, sends and racers", () => {
  const results = ["Step", "StepRun", "StepFailed", "StepError", "StepPlanned", "Sleep"].filter((op) => isResult(one({ op })));
  assert.deepEqual(results, ["Step", "StepRun", "StepFailed"]);
  assert.deepEqual(
    [isSend(one({ op: "Step", opts: { type: "step.sendEvent" } })), isSend(one({ op: "Step", opts: { type: "x" } }))],
    [true, false],
  );
  assert.deepEqual([isRacing(one({ op: "Step", opts: { parallelMode: "race" } })), isRacing(one({ op: "Step" }))], [true, false]);
});

test("the error of a step is given to the function as it was written", () => {
  assert.equal(errorValue(one({ op: "StepFailed", error: { any: 1 } })), '{"error":{"any":1}}');
  assert.equal(errorValue(one({ op: "StepFailed" })), '{"error":{"name":"Error","message":"The step failed."}}');
});

test("an error is shown by its name, its message and its stack, as far as the SDK gave them", () => {
  const shown: [string | null, object][] = [
    [null, { name: "Error", message: "fallback" }],
    ["not JSON", { name: "Error", message: "fallback" }],
    ["null", { name: "Error", message: "fallback" }],
    ["7", { name: "Error", message: "fallback" }],
    ['"only text"', { name: "Error", message: "only text" }],
    ['{"name":"E","message":"m","stack":"s"}', { name: "E", message: "m", stack: "s" }],
    ['{"name":1,"message":2,"stack":3}', { name: "Error", message: "fallback" }],
    ['{"message":"","error":"inner"}', { name: "Error", message: "inner" }],
    ['{"message":"m","error":"inner"}', { name: "Error", message: "m" }],
    ['{"error":{"message":"deep"}}', { name: "Error", message: "fallback" }],
  ];
  for (const [text, expected] of shown) assert.deepEqual(readError(text, "fallback"), expected, String(text));
});
