/** After a restore nothing of a run is left in memory, wherever it was written. */

import assert from "node:assert/strict";
import { it, type TestContext } from "node:test";
import type { SandboxLimits } from "../transform-outcome.ts";
import { logMemory } from "./log-lines.ts";
import { MemoryImage } from "./memory-image.ts";
import { compileQuickJs } from "./quickjs.ts";
import { MEMORY_OVERHEAD_BYTES, Sandbox } from "./sandbox.ts";

const PAGE = 4_096;
/** In the middle of a page, as nothing says that the stack ends with one. */
const STACK_TOP_AT = 8 * PAGE + 48;

it("puts every byte back, whatever a run wrote, version by version", () => {
  const seed = Math.floor(Math.random() * 2 ** 31);
  const random = generator(seed);
  const memory = new Uint8Array(32 * PAGE);
  const versions = Array.from({ length: 3 }, () => {
    scribble(memory, random);
    const expected = memory.slice();
    expected.fill(0, 0, STACK_TOP_AT);
    return { image: new MemoryImage(memory, STACK_TOP_AT), expected };
  });
  for (let round = 0; round < 50; round++) {
    const version = versions[Math.floor(random() * versions.length)];
    assert.ok(version);
    scribble(memory, random);
    version.image.restore(memory);
    assert.ok(Buffer.from(memory).equals(version.expected), `seed ${seed}, round ${round}`);
  }
});

it("finds the engine's whole memory as it was, after whatever code did", (test) => {
  const { memories, run } = sandboxWithMemory(test);
  const still = "() => ({})";
  run(still, "{}");
  run(still, "{}");
  const [memory] = memories;
  assert.ok(memory);
  const expected = Buffer.from(memory.buffer.slice(0));
  for (const source of WILD) {
    run(source, JSON.stringify({ text: "x".repeat(5_000), list: Array.from({ length: 300 }, (_, n) => ({ n })) }));
    run(still, "{}");
    assert.equal(memories.length, 1, source);
    assert.ok(expected.equals(Buffer.from(memory.buffer)), source);
  }
  run("() => ({ text: 'x'.repeat(3_000_000) })", "{}");
  run(still, "{}");
  const another = memories.at(-1);
  assert.ok(another && another !== memory);
  assert.ok(expected.equals(Buffer.from(another.buffer)), "in a new instance");
});

/** Code that writes in all the ways the engine has. None of it makes memory grow. */
const WILD = [
  "(evt) => { globalThis.kept = evt; Object.prototype.x = 1; Array.prototype.push = null; return { ...evt }; }",
  "(evt) => ({ a: evt.text.split('').reverse().join(''), b: evt.text.replaceAll('x', 'yz').toUpperCase().slice(3, 4_500) })",
  "(evt) => { const b = new Uint8Array(100_000).fill(7); b.copyWithin(3, 50, 90_000); return { b: b.subarray(4_090, 4_100).join() }; }",
  "(evt) => { const v = new DataView(new ArrayBuffer(20_000)); for (let i = 0; i < 19_990; i += 3) v.setFloat64(i, i / 7); return {}; }",
  "(evt) => ({ s: evt.list.map(({ n }) => [n * 1.5, String(n), BigInt(n) ** 20n + '']).sort().flat().join('-') })",
  "(evt) => { (function deep(n) { if (n > 0) deep(n - 1); })(300); try { (function f() { f(); })(); } catch {} return {}; }",
  "(evt) => ({ m: /(x+x+)+y/.test('x'.repeat(18)), t: evt.text.match(/x{3}/g).length, d: new Date(0).toISOString() })",
  "(evt) => { const m = new Map(); const w = new WeakMap(); for (let i = 0; i < 999; i++) { m.set(i, {}); w.set(m.get(i), i); } return {}; }",
  "async (evt) => { for (let i = 0; i < 50; i++) await i; return { r: Math.random() > 2, n: Date.now() < 0 }; }",
  "(evt) => eval('function* g() { yield* [1, 2, 3] } ({ g: [...g()], tagged: String.raw`a` })')",
  "() => { throw new TypeError('a'.repeat(5_000)); }",
  "() => { console.log('x'.repeat(30_000)); return 5; }",
];

it("leaves no trace of a request in the engine's own memory", (test) => {
  const { memories, run } = sandboxWithMemory(test);
  const keep =
    "(evt) => { globalThis.kept = [evt, evt.secret.split('')]; (function deep(n) { if (n > 0) deep(n - 1); })(300); return evt; }";
  const secret = "correct horse battery staple";
  assert.equal(run(keep, JSON.stringify({ secret })).ok, true);
  const [memory] = memories;
  assert.ok(memory && memories.length === 1);
  assert.ok(Buffer.from(memory.buffer).includes(secret));
  assert.equal(run("() => ({})", "{}").ok, true);
  assert.equal(memories.length, 1);
  assert.equal(Buffer.from(memory.buffer).includes(secret), false);
});

it("stops code that wastes memory by breaking it up", (test) => {
  const { memories, run } = sandboxWithMemory(test);
  // Never holds more than it may, but in pieces between which ever larger ones do not fit.
  const waste = `() => {
    let kept = [];
    for (let size = 1_000, bytes = 0; size < 400_000; size *= 2) {
      while (bytes < 28_000_000) { kept.push(new Uint8Array(size)); bytes += size + 200; }
      kept = kept.filter((part, n) => n % 4 === 0);
      bytes = kept.reduce((sum, part) => sum + part.length + 200, 0);
    }
    console.log("came to the end");
    return {};
  }`;
  const outcome = run(waste, "{}");
  assert.deepEqual([!outcome.ok && outcome.code, outcome.logs], ["transform_memory", []]);
  // Between two looks at its size, memory grows by no more than the engine may allocate at once.
  assert.ok(memories.every(({ buffer }) => buffer.byteLength < 2 * LIMITS.memoryBytes + MEMORY_OVERHEAD_BYTES));
  assert.equal(run("() => ({})", "{}").ok, true);
});

/** A sandbox, and the memories of the engine's instances it has made so far. */
function sandboxWithMemory(test: TestContext) {
  const memories: WebAssembly.Memory[] = [];
  const { Instance } = WebAssembly;
  WebAssembly.Instance = class extends Instance {
    constructor(...values: ConstructorParameters<typeof Instance>) {
      super(...values);
      memories.push((this.exports as { memory: WebAssembly.Memory }).memory);
    }
  };
  test.after(() => {
    WebAssembly.Instance = Instance;
  });
  const sandbox = new Sandbox({ limits: LIMITS, logMemory: logMemory(LIMITS), module: compileQuickJs() });
  const run = (source: string, raw: string) =>
    sandbox.run({ versionKey: source, source, evtJson: null, headersJson: "{}", queryParamsJson: "{}", raw });
  return { memories, run };
}

const LIMITS: SandboxLimits = {
  timeoutMs: 5_000,
  memoryBytes: 33_554_432,
  stackBytes: 262_144,
  resultBytesMax: 524_288,
  logLinesMax: 10,
  logBytesMax: 1_000,
  versionsMax: 2,
};

/** Anywhere, often at the ends of pages. */
function scribble(memory: Uint8Array, random: () => number): void {
  for (let i = 0; i < 200; i++) {
    const page = Math.floor(random() * (memory.length / PAGE)) * PAGE;
    const at = random() < 0.3 ? page + (random() < 0.5 ? 0 : PAGE - 1) : page + Math.floor(random() * PAGE);
    memory[at] = Math.floor(random() * 256);
  }
}

/** mulberry32: the same numbers for the same seed. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
