/**
 * Each request has a world of its own: nothing one request does can be seen by the next, in any way JavaScript offers.
 * Each case runs the same version three times on the same thread; the first to see a trace of an earlier one fails the test.
 */

import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { testRunner } from "../threads/run-for-test.ts";

// One thread for everything: with every version slow, all runs share the queue of slow versions.
const { runner, run, event } = testRunner({ slowMs: -1e9 });
after(() => runner.stop());

/** Each source returns `{ seen }`: what it found before it left its own trace. */
const traces = {
  "a global variable": `() => { const seen = globalThis.n; globalThis.n = 1; return { seen }; }`,
  "an undeclared variable": `function transform() { const seen = typeof leaked; leaked = 1; return { seen: seen === "undefined" ? undefined : seen }; }`,
  "a variable of the top level": `let n; function transform() { const seen = n; n = 1; return { seen }; }`,
  "a variable of a module": `let n; export default () => { const seen = n; n = 1; return { seen }; }`,
  "an object of the top level": `const cache = new Map(); export default () => { const seen = cache.get("k"); cache.set("k", 1); return { seen }; }`,
  "an array of the top level": `const list = [undefined]; function transform() { const seen = list[1]; list.push(1); return { seen }; }`,
  "a closure": `const next = (() => { let n; return () => { const was = n; n = 1; return was; }; })(); function transform() { return { seen: next() }; }`,
  "a property of the function": `function transform() { const seen = transform.n; transform.n = 1; return { seen }; }`,
  "the function itself": `function transform() { const first = () => ({}); transform = () => ({ seen: 1 }); return first(); }`,
  "a static field": `class C { static n; } function transform() { const seen = C.n; C.n = 1; return { seen }; }`,
  "a private static field": `class C { static #n; static swap() { const was = C.#n; C.#n = 1; return was; } } function transform() { return { seen: C.swap() }; }`,
  "Object.prototype": `() => { const seen = ({}).polluted; Object.prototype.polluted = 1; return { seen }; }`,
  "Array.prototype": `() => { const seen = [].polluted; Array.prototype.polluted = 1; return { seen }; }`,
  "a replaced method": `() => { const seen = [].at(0); Array.prototype.at = () => 1; return { seen }; }`,
  "a replaced JSON": `() => { const seen = JSON.n; JSON.stringify = () => "1"; JSON.parse = () => 1; JSON.n = 1; return { seen }; }`,
  "a replaced Date": `() => { const seen = Date.n; const D = Date; globalThis.Date = class extends D { static n = 1; }; Date.now = () => 0; return { seen }; }`,
  "a replaced Math": `() => { const seen = Math.abs(5) === 5 ? undefined : 1; Math.abs = () => 0; return { seen }; }`,
  "a deleted global": `() => { const seen = typeof Map === "undefined" ? 1 : undefined; delete globalThis.Map; return { seen }; }`,
  "a replaced console": `() => { const seen = console.n; console.n = 1; console.log = () => {}; return { seen }; }`,
  "frozen intrinsics": `() => {
    const seen = Object.isFrozen(Array.prototype) || Object.isFrozen(globalThis.Map) ? 1 : undefined;
    for (const key of ["Array", "Object", "Map", "String"]) { Object.freeze(globalThis[key]); Object.freeze(globalThis[key].prototype); }
    return { seen };
  }`,
  "a global that no longer extends": `() => { const seen = Object.isExtensible(globalThis) ? undefined : 1; Object.preventExtensions(globalThis); return { seen }; }`,
  "an accessor on the global": `() => { const seen = globalThis.g; Object.defineProperty(globalThis, "g", { get: () => 1 }); return { seen }; }`,
  "the symbol registry": `() => { const s = Symbol.for("k"); const seen = Object.prototype[s]; Object.prototype[s] = 1; return { seen }; }`,
  "lastIndex of a regular expression": `const re = /a/g; function transform() { const seen = re.lastIndex || undefined; re.test("aa"); return { seen }; }`,
  "a template object": `const tag = (strings) => strings; const get = () => tag\`x\`; const marks = new WeakMap();
    function transform() { const seen = marks.get(get()); marks.set(get(), 1); return { seen }; }`,
  "a generator in the middle": `const g = (function* () { yield undefined; yield 1; yield 2; })(); function transform() { return { seen: g.next().value }; }`,
  "an iterator of the top level": `const it = [undefined, 1, 2][Symbol.iterator](); function transform() { return { seen: it.next().value }; }`,
  "a typed array": `const bytes = new Uint8Array(8); function transform() { const seen = bytes[0] || undefined; bytes.fill(7); return { seen }; }`,
  "a pending promise": `function transform() { const seen = globalThis.late; new Promise(() => {}).then(() => {}); Promise.resolve().then(() => { globalThis.late = 1; }); return { seen }; }`,
  "a promise job left behind": `let n; async function transform() {
    const seen = n;
    (async () => { for (let i = 0; i < 50; i++) await null; n = 1; })();
    return { seen };
  }`,
  "a promise of the top level": `let resolve; const p = new Promise((r) => { resolve = r; }); let state; p.then(() => { state = 1; });
    async function transform() { await null; const seen = state; resolve(); await null; return { seen }; }`,
  "a queued microtask": `() => { const seen = globalThis.m; queueMicrotask(() => { globalThis.m = 1; }); return { seen }; }`,
  "a finalizer": `const r = new FinalizationRegistry(() => { globalThis.fin = 1; }); function transform() { const seen = globalThis.fin; r.register({}, 1); return { seen }; }`,
  "a weak reference": `let ref; function transform() { const seen = ref?.deref()?.n; globalThis.keep = { n: 1 }; ref = new WeakRef(globalThis.keep); return { seen }; }`,
  "the arguments": `(evt, headers, query) => { const seen = evt.n ?? headers.n ?? query.n; evt.n = headers.n = query.n = 1; return { seen }; }`,
  "Error settings": `() => { const seen = Error.stackTraceLimit === 3 ? 1 : undefined; Error.stackTraceLimit = 3; Error.prepareStackTrace = () => "x"; return { seen }; }`,
  "indirect eval": `() => { const seen = typeof evaluated === "undefined" ? undefined : 1; (0, eval)("var evaluated = 1"); return { seen }; }`,
  "the Function constructor": `() => { const seen = typeof made === "undefined" ? undefined : 1; Function("made = 1")(); return { seen }; }`,
} satisfies Record<string, string>;

describe("no trace is left by", () => {
  for (const [what, source] of Object.entries(traces)) {
    it(what, async () => {
      for (let round = 1; round <= 3; round++) assert.deepEqual(await event(source), {}, `request ${round}`);
    });
  }
});

it("a run that was stopped at a limit leaves nothing either", async () => {
  const source = `let n = 0; function transform(evt) { n++; globalThis.m = (globalThis.m ?? 0) + 1; if (evt.loop) for (;;); if (evt.grow) "x".repeat(2 ** 29); return { n, m }; }`;
  const versionKey = "limits";
  assert.deepEqual(await event(source, { versionKey }), { n: 1, m: 1 });
  assert.equal((await run(source, { versionKey, evtJson: `{"loop":true}` })).ok, false);
  assert.equal((await run(source, { versionKey, evtJson: `{"grow":true}` })).ok, false);
  assert.deepEqual(await event(source, { versionKey }), { n: 1, m: 1 });
});

it("a request that made memory grow leaves nothing", async () => {
  const source = `let n = 0; function transform(evt) { n++; const s = []; for (let i = 0; i < evt.size; i++) s.push({ i }); return { n, length: s.length }; }`;
  for (const size of [10, 50_000, 10, 50_000, 10])
    assert.deepEqual(await event(source, { evtJson: `{"size":${size}}` }), { n: 1, length: size });
});

it("a large request leaves nothing to the next large one", async () => {
  const source = `let n = 0; function transform(evt) { n++; globalThis.m = (globalThis.m ?? 0) + evt.list.length; return { n, m }; }`;
  const evtJson = JSON.stringify({ list: Array.from({ length: 5_000 }, (_, i) => `item ${i}`) });
  for (let i = 0; i < 3; i++) assert.deepEqual(await event(source, { evtJson }), { n: 1, m: 5_000 });
});

it("versions do not see each other", async () => {
  await event(`() => { globalThis.n = 1; Object.prototype.polluted = 1; return {}; }`);
  assert.deepEqual(await event(`() => ({ n: globalThis.n, polluted: ({}).polluted })`), {});
  assert.deepEqual(await event(`globalThis.top = 1; Array.prototype.top = 1; function transform() { return {}; }`), {});
  assert.deepEqual(await event(`() => ({ n: globalThis.top, polluted: [].top })`), {});
});

it("random numbers differ from request to request, also after the top level used some", async () => {
  const source = `const first = Math.random(); function transform() { return { r: [Math.random(), Math.random()] }; }`;
  const seen = new Set<number>();
  for (let i = 0; i < 10; i++) for (const r of (await event(source)).r as number[]) seen.add(r);
  assert.equal(seen.size, 20);
  for (const r of seen) assert.ok(r >= 0 && r < 1);
});

it("time goes on, in UTC", async () => {
  const before = Date.now();
  const { now, offset, year } = await event(
    `() => ({ now: Date.now(), offset: new Date().getTimezoneOffset(), year: new Date(0).getFullYear() })`,
  );
  assert.ok((now as number) >= before && (now as number) <= Date.now());
  assert.deepEqual([offset, year], [0, 1970]);
});
