/** After a restore nothing of a run is left in memory, wherever it was written. */

import assert from "node:assert/strict";
import { it, type TestContext } from "node:test";
import type { SandboxLimits } from "../transform-outcome.ts";
import { logMemory } from "./log-lines.ts";
import { MemoryImage } from "./memory-image.ts";
import { compileQuickJs } from "./quickjs.ts";
import { Sandbox } from "./sandbox.ts";

const PAGE = 4_096;
const STACK_TOP_AT = 8 * PAGE;

it("puts every byte back, whatever a run wrote, version by version", () => {
  const seed = Math.floor(Math.random() * 2 ** 31);
  const random = generator(seed);
  const memory = new Uint8Array(32 * PAGE);
  const words = new Int32Array(memory.buffer);
  const marks = new Uint8Array(64);
  for (let page = 8; page < 32; page++) if (random() < 0.5) memory[page * PAGE + Math.floor(random() * PAGE)] = 1;
  const base = MemoryImage.of(words, STACK_TOP_AT);

  const versions = Array.from({ length: 3 }, () => {
    base.restore(words, marks, null);
    scribble(memory, marks, random);
    // Taking it clears the stack.
    const image = base.with(words, STACK_TOP_AT);
    return { image, expected: memory.slice() };
  });
  let before: MemoryImage | null = null;
  for (let round = 0; round < 50; round++) {
    const version = versions[Math.floor(random() * versions.length)];
    assert.ok(version);
    version.image.restore(words, marks, before);
    before = version.image;
    assert.ok(Buffer.from(memory).equals(version.expected), `seed ${seed}, round ${round}`);
    assert.ok(marks.every((mark) => mark === 0));
    scribble(memory, marks, random);
  }
});

it("puts back what a store wrote beyond the end of the page that is marked", () => {
  const memory = new Uint8Array(32 * PAGE).fill(5, STACK_TOP_AT);
  const words = new Int32Array(memory.buffer);
  const marks = new Uint8Array(64);
  const image = MemoryImage.of(words, STACK_TOP_AT);
  const expected = memory.slice();
  memory.fill(6, 20 * PAGE - 1, 20 * PAGE + 7);
  marks[19] = 1;
  image.restore(words, marks, image);
  assert.ok(Buffer.from(memory).equals(expected));
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
    run(source, JSON.stringify({ text: "x".repeat(20_000), list: Array.from({ length: 500 }, (_, n) => ({ n })) }));
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
  "(evt) => ({ a: evt.text.split('').reverse().join(''), b: evt.text.replaceAll('x', 'yz').toUpperCase().slice(3, 9_000) })",
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
  assert.equal(run(keep, JSON.stringify({ secret })), true);
  const [memory] = memories;
  assert.ok(memory && memories.length === 1);
  assert.ok(Buffer.from(memory.buffer).includes(secret));
  assert.equal(run("() => ({})", "{}"), true);
  assert.equal(memories.length, 1);
  assert.equal(Buffer.from(memory.buffer).includes(secret), false);
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
  const sandbox = new Sandbox({ limits: LIMITS, logMemory: logMemory(LIMITS), module: compileQuickJs(LIMITS.memoryBytes) });
  const run = (source: string, raw: string) =>
    sandbox.run({ versionKey: source, source, evtJson: null, headersJson: "{}", queryParamsJson: "{}", raw }).ok;
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

/** Anywhere but in the lower half of the stack. */
function scribble(memory: Uint8Array, marks: Uint8Array, random: () => number): void {
  for (let i = 0; i < 200; i++) {
    const at = STACK_TOP_AT / 2 + Math.floor(random() * (memory.length - STACK_TOP_AT / 2));
    memory[at] = Math.floor(random() * 256);
    marks[Math.floor(at / PAGE)] = 1;
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
