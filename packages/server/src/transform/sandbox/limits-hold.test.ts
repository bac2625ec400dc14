/** Each way to use too much ends in the right outcome, soon, and the runner goes on working. */

import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { type TestRunner, testRunner } from "../threads/run-for-test.ts";
import type { TransformFailureCode } from "../transform-outcome.ts";

/** CPU time, far above what each needs. */
const SOON_MS = 8_000;
const TRIES_MAX = 100;

const hasty = testRunner({ limits: { timeoutMs: 100 }, stuckMs: 300 });
/** For what is not about time: on a slow machine a memory bomb may need more to go off. */
const patient = testRunner({ limits: { timeoutMs: 10_000 } });
const { runner, run, event, failure } = patient;
after(() => Promise.all([hasty.runner.stop(), runner.stop()]));

const excesses: Record<string, [source: string, code: TransformFailureCode]> = {
  "an endless loop": ["() => { for (;;); }", "transform_timeout"],
  "an endless loop that catches everything": ["() => { for (;;) try { for (;;); } catch {} finally { continue; } }", "transform_timeout"],
  "an endless loop at the top level": ["for (;;);\nfunction transform() {}", "transform_timeout"],
  "an endless loop in a getter of the result": ["() => ({ get a() { for (;;); } })", "transform_timeout"],
  "an endless loop in toJSON": ["() => ({ toJSON() { for (;;); } })", "transform_timeout"],
  "an endless loop in toString of what is thrown": ["() => { throw { toJSON() { for (;;); } }; }", "transform_timeout"],
  "an endless loop in a proxy": ["() => new Proxy({}, { ownKeys() { for (;;); } })", "transform_timeout"],
  "an endless loop while sorting": ["() => { [3, 2, 1].sort(() => { for (;;); }); }", "transform_timeout"],
  "an endless generator": ["() => { for (const x of (function* () { for (;;) yield 1; })()); }", "transform_timeout"],
  "endless microtasks": ["async () => { for (;;) await null; }", "transform_timeout"],
  "endless queued microtasks": [
    "() => { const again = () => queueMicrotask(again); again(); return new Promise(() => {}); }",
    "transform_timeout",
  ],
  "an endless loop in a microtask": ["async () => { await null; for (;;); }", "transform_timeout"],
  "a rejected promise that loops": ["() => Promise.reject(1).catch(() => { for (;;); })", "transform_timeout"],
  "a catastrophic regular expression": [`() => ({ a: /^(a+)+$/.test("a".repeat(40) + "b") })`, "transform_timeout"],
  "native work that never asks to go on": ["() => ({ a: new Array(2 ** 32 - 1).join() })", "transform_timeout"],
  "a search without end": ["() => ({ a: Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1) })", "transform_timeout"],
  "an array that grows": ["() => { const a = []; for (;;) a.push(new Array(10_000).fill(1)); }", "transform_memory"],
  "a string too large": [`() => ({ a: "x".repeat(2 ** 29) })`, "transform_memory"],
  "a string that doubles": [`() => { let s = "x"; for (;;) s = [s, s].join(""); }`, "transform_memory"],
  "a buffer too large": ["() => { new ArrayBuffer(1e9); }", "transform_memory"],
  "memory at the top level": ["const a = new Array(1e6).fill({});\nfunction transform() { return {}; }", "transform_memory"],
  "memory in a promise": ["async () => { await null; const a = []; for (;;) a.push(new Array(10_000).fill(1)); }", "transform_memory"],
  "deep recursion": ["() => { (function f() { f(); })(); }", "transform_failed"],
  "deep recursion of natives": ["() => { const a = []; a[0] = a; const f = () => [1].map(f); f(); }", "transform_failed"],
  "a huge return value": [`() => ({ a: "x".repeat(600_000) })`, "transform_invalid_event"],
  "a huge number of keys": [
    "() => Object.fromEntries(Array.from({ length: 60_000 }, (_, i) => ['key' + i, i]))",
    "transform_invalid_event",
  ],
};

describe("a limit holds against", () => {
  for (const [what, [source, code]] of Object.entries(excesses)) {
    it(what, async () => {
      const tried = code === "transform_timeout" ? hasty : patient;
      const began = process.cpuUsage();
      const outcome = await tried.failure(source);
      const { user, system } = process.cpuUsage(began);
      assert.equal(outcome.code, code, outcome.message);
      assert.ok((user + system) / 1_000 < SOON_MS);
      await goesOn(tried);
    });
  }
});

/** A starved host may count time that it took from this machine as that of a run, which then ends at the limit: the next one is fine. */
async function goesOn({ run: tryRun }: TestRunner): Promise<void> {
  for (let tries = 1; ; tries++) {
    const outcome = await tryRun("() => ({ fine: true })");
    if (outcome.ok) return assert.equal(outcome.eventJson, '{"fine":true}');
    assert.ok(outcome.code === "transform_timeout" && tries < TRIES_MAX, outcome.message);
  }
}

it("a table of some size may be built at the top level, but not any", async () => {
  const table = (entries: number) =>
    `const table = new Map(Array.from({ length: ${entries} }, (_, i) => [i, { i }])); function transform(evt) { return { size: table.size }; }`;
  for (const entries of [100, 5_000]) {
    assert.deepEqual(await event(table(entries)), { size: entries });
    assert.deepEqual(await runner.check(table(entries)), { ok: true });
  }
  const outcome = await failure(table(50_000));
  assert.equal(outcome.code, "transform_memory");
  assert.match(outcome.message, /the top level .* needs more than 2097152 bytes/);
  assert.deepEqual(await runner.check(table(50_000)), { ok: false, code: outcome.code, message: outcome.message });
});

it("messages name the limit", async (t) => {
  const small = testRunner({ limits: { memoryBytes: 4_194_304, resultBytesMax: 100 } });
  t.after(() => small.runner.stop());
  assert.match((await hasty.failure("() => { for (;;); }")).message, /100 ms/);
  assert.match((await small.failure(`() => "x".repeat(2 ** 29)`)).message, /4194304 bytes/);
  assert.match((await small.failure(`() => ({ a: "ł".repeat(60) })`)).message, /128 bytes as JSON, more than the limit of 100/);
  assert.equal((await small.run(`() => ({ a: "x".repeat(92) })`)).ok, true);
});

it("the log is cut in lines and in bytes, and says so", async () => {
  const lines = await run(`() => { for (let i = 0; i < 5_000; i++) console.log("line", i); return {}; }`);
  assert.equal(lines.ok, true);
  assert.equal(lines.logs.length, 101);
  assert.equal(lines.logs[99], "line 99");
  assert.match(lines.logs[100] ?? "", /the rest was cut: at most 100 lines and 16384 bytes/);

  const bytes = await run(`() => { console.log("ł".repeat(100_000)); console.log("more"); return {}; }`);
  assert.equal(bytes.logs.length, 2);
  assert.equal(bytes.logs[0], "ł".repeat(8_192));
  assert.match(bytes.logs[1] ?? "", /the rest was cut/);
});

it("code that survives running out of memory may still answer", async () => {
  const source = `() => { try { "x".repeat(2 ** 29); } catch (error) { return { caught: String(error) }; } }`;
  assert.deepEqual(await event(source), { caught: "InternalError: out of memory" });
});

it("an event nested as deep as one may be passes, a much deeper one ends in an outcome", async () => {
  const nested = (depth: number) => `${`{"a":`.repeat(depth)}1${"}".repeat(depth)}`;
  const passed = await run("(evt) => ({ data: evt })", { evtJson: nested(512), raw: nested(512) });
  assert.equal(passed.ok && passed.eventJson, `{"data":${nested(512)}}`);
  const outcome = await failure("() => { let a = []; for (let i = 0; i < 40_000; i++) a = [a]; return { a }; }");
  assert.equal(outcome.code, "transform_invalid_event");
  assert.match(outcome.message, /nested too deeply/);
});
