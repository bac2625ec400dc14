import assert from "node:assert/strict";
import { test } from "node:test";
import { createEventIdGenerator, type FunctionNo } from "@inlet/protocol";
import { sampleState } from "../../../test/support/sample-state.ts";
import { APPROVAL_DATA_UNITS_MAX, type NewRun, SIGNAL_UNITS_MAX } from "../../store/contract/index.ts";
import { type Operation, readOperations } from "./operations.ts";
import { type InvokeParts, readApproval, readInvocation, readSignal, readSleep, readWait, timeoutValue } from "./step-parameters.ts";

const NOW = Date.parse("2026-01-01T00:00:00Z");
const operation = (fields: object) => (readOperations(JSON.stringify([{ op: "x", id: "s", ...fields }])) as Operation[])[0] as Operation;

test("a sleep is a duration or an instant, in either place", () => {
  assert.equal(readSleep(operation({ name: "1m30s" }), NOW), NOW + 90_000);
  assert.equal(readSleep(operation({ name: "nap", opts: { duration: "2h" } }), NOW), NOW + 7_200_000);
  assert.equal(readSleep(operation({ name: "2026-01-02T00:00:00Z" }), NOW), NOW + 86_400_000);
  assert.equal(readSleep(operation({ name: "" }), NOW), NOW, "the published SDKs write less than a second as nothing");
  assert.equal(readSleep(operation({ name: "366d" }), NOW), NOW + 366 * 86_400_000);
  assert.equal(readSleep(operation({ name: "2099-01-01" }), NOW), '"2099-01-01" is more than 366 days ahead.');
  assert.match(readSleep(operation({ name: "soon" }), NOW) as string, /"soon" is neither/);
});

test("a wait names its event and how long it lasts", () => {
  assert.deepEqual(readWait(operation({ name: "x/y", opts: { timeout: "1h" } }), NOW), {
    eventName: "x/y",
    expression: null,
    expiresAt: NOW + 3_600_000,
  });
  const given = readWait(operation({ name: "w", opts: { event: "x/y", timeout: "1s", if: "async.data.a == 1" } }), NOW);
  assert.deepEqual(given, { eventName: "x/y", expression: "async.data.a == 1", expiresAt: NOW + 1_000 });
  const unconditional = readWait(operation({ name: "x/y", opts: { timeout: "1s", if: "" } }), NOW);
  assert.deepEqual(unconditional, { eventName: "x/y", expression: null, expiresAt: NOW + 1_000 });
  assert.match(readWait(operation({ name: "x/y", opts: {} }), NOW) as string, /timeout null/);
  assert.match(readWait(operation({ name: "", opts: { timeout: "1s" } }), NOW) as string, /no event/);
  const refused = 'its event "x/y*" must be the whole name of an event: a pattern would never match one.';
  assert.equal(readWait(operation({ name: "x/y*", opts: { timeout: "1s" } }), NOW), refused);
  assert.equal(readWait(operation({ name: "w", opts: { event: "x/y*", timeout: "1s" } }), NOW), refused);
});

test("an invocation starts the other function with the caller's data as it was written, and its origin", () => {
  const parts: InvokeParts = {
    eventIds: createEventIdGenerator(),
    functionId: () => "app-caller",
    start(_environment, id) {
      if (id === "app-ruled") return { start: { functionNo: 3 as FunctionNo, dueAt: NOW } };
      return id === "app-other" ? { run: { id: "01CHILD", functionNo: 2 as FunctionNo } as unknown as NewRun } : null;
    },
  };
  const invoke = (opts: object) => readInvocation(parts, operation({ op: "InvokeFunction", opts }), sampleState(), NOW);
  const started = invoke({ function_id: "app-other", payload: { data: { big: 12345678901234, _inngest: "forged" } }, timeout: "1m" });
  assert.ok(typeof started !== "string");
  const [event] = started.events[0]?.events ?? [];
  assert.deepEqual([started.childRunId, started.expiresAt, event?.name], ["01CHILD", NOW + 60_000, "inngest/function.invoked"]);
  assert.equal(started.eventId, event?.id);
  assert.deepEqual(JSON.parse(event?.data ?? ""), {
    big: 12345678901234,
    _inngest: { fn_id: "app-other", correlation_id: "01RUN.s", source_fn_id: "app-caller" },
  });
  assert.deepEqual(event?.runs?.[0]?.invoker, { runNo: 1, stepId: "s" });
  const personal = invoke({ function_id: "app-other", payload: { data: {}, user: { id: 1 }, v: "2", meta: null, name: "x" } });
  assert.ok(typeof personal !== "string");
  assert.equal(personal.events[0]?.events[0]?.extras, '{"user":{"id":1},"v":"2"}');
  const origin = { fn_id: "app-other", correlation_id: "01RUN.s", source_fn_id: "app-caller" };
  for (const payload of [undefined, null, "text", [], {}, { data: null }, { data: [] }, { data: {} }, { data: { _inngest: 1 } }]) {
    const bare = invoke({ function_id: "app-other", payload });
    assert.ok(typeof bare !== "string");
    assert.deepEqual(JSON.parse(bare.events[0]?.events[0]?.data ?? ""), { _inngest: origin }, JSON.stringify(payload));
    assert.equal(bare.expiresAt, NOW + 365 * 86_400_000, "a year unless it says otherwise");
  }
  const ruled = invoke({ function_id: "app-ruled" });
  assert.ok(typeof ruled !== "string");
  assert.deepEqual([ruled.childRunId, ruled.events[0]?.events[0]?.starts?.length], [null, 1]);
  assert.match(invoke({}) as string, /no function ""/);
  assert.match(invoke({ function_id: "app-nobody" }) as string, /no function "app-nobody"/);
  assert.match(invoke({ function_id: "app-other", timeout: "soon" }) as string, /neither a duration/);
});

test("a wait whose event is empty is for the event that the operation's name says", () => {
  const wait = readWait(operation({ name: "shop/paid", opts: { event: "", timeout: "1m" } }), NOW);
  assert.deepEqual(wait, { eventName: "shop/paid", expression: null, expiresAt: NOW + 60_000 });
});

test("a wait for a signal names it, and says how long it lasts and what a second one does", () => {
  const signal = (name: string, opts: object) => readSignal(operation({ name, opts }), NOW);
  assert.deepEqual(signal("pay", { timeout: "1m" }), { signal: "pay", expiresAt: NOW + 60_000, onConflict: "fail" });
  assert.deepEqual(signal("pay", { signal: "paid", timeout: "", conflict: "replace" }), {
    signal: "paid",
    expiresAt: NOW,
    onConflict: "replace",
  });
  assert.deepEqual(signal("pay", { signal: "", timeout: "1s" }), { signal: "pay", expiresAt: NOW + 1_000, onConflict: "fail" });
  assert.equal(signal("", { timeout: "1m" }), "it names no signal.");
  assert.equal(typeof signal("s".repeat(SIGNAL_UNITS_MAX), { timeout: "1m" }), "object");
  assert.match(
    signal("s".repeat(SIGNAL_UNITS_MAX + 1), { timeout: "1m" }) as string,
    /^its signal has \d+ characters, at most \d+ are allowed\.$/,
  );
  assert.equal(signal("pay", {}), "its timeout null is neither a duration nor a date.");
  assert.equal(signal("pay", { timeout: "soon" }), 'its timeout "soon" is neither a duration nor a date.');
});

test("the data of an approval is kept as it was written, or as compact JSON if it would be too long", () => {
  const approval = (data: string) => {
    const written = `[{"op":"x","id":"s","opts":{"prompt":"Ship?","timeout":"1h","data":${data}}}]`;
    return readApproval((readOperations(written) as Operation[])[0] as Operation, NOW);
  };
  const escaped = (count: number) => `{ "a": "${"\\u00fc".repeat(count)}", "n": 12345678901234567890 }`;
  const around = '{"a":"","n":12345678901234567890}'.length;
  const fields = (data: string) => ({ prompt: "Ship?", data, confirmsReject: false, expiresAt: NOW + 3_600_000 });
  const short = escaped(10);
  assert.deepEqual(approval(short), fields(short));
  const count = APPROVAL_DATA_UNITS_MAX - around;
  assert.deepEqual(approval(escaped(count)), fields(`{"a":"${"ü".repeat(count)}","n":12345678901234567890}`));
  assert.equal(approval(escaped(count + 1)), "its data has 65537 characters as compact JSON, at most 65536 are allowed.");
});

test("what a step is given when its time runs out", () => {
  assert.deepEqual(timeoutValue("wait"), { status: "completed", value: "null" });
  const { status, value } = timeoutValue("invoke");
  const error = { name: "InvocationTimeout", message: "The invoked function did not end in time." };
  assert.deepEqual([status, JSON.parse(value)], ["failed", { error }]);
});
