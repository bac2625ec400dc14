import assert from "node:assert/strict";
import { test } from "node:test";
import type { StepId } from "@inlet/protocol";
import { SAMPLE_EVENT, sampleState } from "../../../test/support/sample-state.ts";
import type { RunContext } from "../../store/contract/index.ts";
import { type CallParameters, callBody, stepsText } from "./call-body.ts";

function body(context: Partial<RunContext> = {}, given: Partial<CallParameters> = {}): string {
  const whole: RunContext = { run: sampleState().run, events: [SAMPLE_EVENT], steps: [], ...context };
  const { text } = callBody({
    context: whole,
    functionUuid: "uuid",
    stepId: "step",
    attempt: 1,
    maxAttempts: 5,
    callId: "7",
    isOwnSdk: false,
    exactNumbers: false,
    ...given,
  });
  return text;
}

const step = (id: string, value: string) => ({ id: id as StepId, value });

test("a call carries the event, what is done, in order, and which attempt it is", () => {
  const parsed = JSON.parse(body({ steps: [step("b", '{"data":1}'), step("a", "null")] }));
  assert.deepEqual(parsed.steps, { b: { data: 1 }, a: null });
  assert.deepEqual(parsed.ctx.stack, { current: 2, stack: ["b", "a"] }, "in the order of completion");
  assert.deepEqual([parsed.ctx.attempt, parsed.ctx.max_attempts, parsed.ctx.run_id, parsed.ctx.fn_id], [1, 5, "01RUN", "uuid"]);
  assert.equal(parsed.event.name, "shop/order.created");
  assert.deepEqual(parsed.events, [parsed.event]);
  assert.deepEqual([parsed.version, parsed.use_api, parsed.ctx.use_api], [2, false, false]);
});

test("the body is canonical: keys in order at every level, so that a body written anew has the same signature", () => {
  const event = { ...SAMPLE_EVENT, data: '{ "z": 1.0, "a": {"é":2,"b":[1e3]} }', extras: '{"v":"1","user":{"b":1,"a":2}}' };
  const text = body({ events: [event], steps: [step("z", '{"data":{"b":1, "a":2}}'), step("a", "null")] });
  const sorted = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(sorted);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([key, inner]) => [key, sorted(inner)]),
    );
  };
  assert.equal(text, JSON.stringify(sorted(JSON.parse(text))));
});

test("our own SDK gets numbers as they were sent", () => {
  const event = { ...SAMPLE_EVENT, data: '{"no":12345678901234567890}' };
  assert.match(body({ events: [event] }, { exactNumbers: true }), /12345678901234567890/);
  assert.doesNotMatch(body({ events: [event] }), /12345678901234567890/);
});

test("what is too large for a call is left for the SDK to fetch", () => {
  const large = step("a", JSON.stringify({ data: "x".repeat(4 * 1024 * 1024) }));
  const parsed = JSON.parse(body({ steps: [large] }));
  assert.deepEqual([parsed.steps, parsed.events, parsed.ctx.use_api, parsed.use_api], [{}, [], true, true]);
  assert.deepEqual(parsed.ctx.stack.stack, []);
  assert.equal(parsed.event.name, "shop/order.created");

  const ofBytes = (bytes: number) => ({ ...SAMPLE_EVENT, data: JSON.stringify({ text: "é".repeat(bytes / 2) }) });
  const mib = 1024 * 1024;
  assert.equal(JSON.parse(body({ events: [ofBytes(2 * mib - 1_024)] })).use_api, false, "the event is in it twice");
  assert.equal(JSON.parse(body({ events: [ofBytes(2 * mib)] })).use_api, true);
  assert.ok(body({ events: [ofBytes(20 * mib)] }, { isOwnSdk: true }).length < 1_000, "our own SDK fetches the event, too");
});

test("steps that an SDK fetches are in the order in which they ended: a race has the same winner as before", () => {
  assert.equal(stepsText([step("b", '{"data":1}'), step("a", "null")], true), '{"b":{"data":1},"a":null}');
  assert.equal(stepsText([], true), "{}");
});
