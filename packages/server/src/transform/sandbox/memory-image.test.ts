/** After a restore nothing of a run is left in memory, wherever it was written. */

import assert from "node:assert/strict";
import { it } from "node:test";
import type { SandboxLimits } from "../transform-outcome.ts";
import { logMemory } from "./log-lines.ts";
import { MemoryImage } from "./memory-image.ts";
import { compileQuickJs } from "./quickjs.ts";
import { Sandbox } from "./sandbox.ts";

const PAGE = 4_096;

it("puts every byte back, whatever a run wrote, version by version", () => {
  const seed = Math.floor(Math.random() * 2 ** 31);
  const random = generator(seed);
  const stack = { topAt: 8 * PAGE, reachBytes: 4 * PAGE };
  const memory = new Uint8Array(32 * PAGE);
  for (let page = 8; page < 32; page++) if (random() < 0.5) memory[page * PAGE + Math.floor(random() * PAGE)] = 1;
  const image = new MemoryImage(memory, stack);

  const versions = Array.from({ length: 3 }, () => {
    image.restore(memory, []);
    scribble(memory, stack.topAt, random);
    const expected = memory.slice();
    return { changes: image.changesIn(memory), expected };
  });
  for (let round = 0; round < 50; round++) {
    const version = versions[Math.floor(random() * versions.length)];
    assert.ok(version);
    image.restore(memory, version.changes);
    assert.ok(Buffer.from(memory).equals(version.expected), `seed ${seed}, round ${round}`);
    scribble(memory, stack.topAt - stack.reachBytes, random);
  }
});

it("notices a run that went further down the stack than is cleared", () => {
  const memory = new Uint8Array(16 * PAGE);
  const image = new MemoryImage(memory, { topAt: 8 * PAGE, reachBytes: 4 * PAGE });
  memory[4 * PAGE] = 1;
  assert.equal(image.stackOverran(memory), false);
  memory[4 * PAGE - 1] = 1;
  assert.equal(image.stackOverran(memory), true);
});

it("leaves no trace of a request in the engine's own memory", () => {
  const memories: WebAssembly.Memory[] = [];
  const { Instance } = WebAssembly;
  WebAssembly.Instance = class extends Instance {
    constructor(...values: ConstructorParameters<typeof Instance>) {
      super(...values);
      memories.push((this.exports as { memory: WebAssembly.Memory }).memory);
    }
  };
  try {
    const sandbox = new Sandbox({
      limits: LIMITS,
      logMemory: logMemory(LIMITS),
      module: compileQuickJs(LIMITS.memoryBytes),
      heapReserveBytes: 262_144,
    });
    const run = (source: string, raw: string) => {
      const outcome = sandbox.run({ versionKey: source, source, evtJson: null, headersJson: "{}", queryParamsJson: "{}", raw });
      return typeof outcome === "object" && outcome.ok;
    };
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
  } finally {
    WebAssembly.Instance = Instance;
  }
});

const LIMITS: SandboxLimits = {
  timeoutMs: 5_000,
  memoryBytes: 33_554_432,
  stackBytes: 262_144,
  resultBytesMax: 524_288,
  logLinesMax: 10,
  logBytesMax: 1_000,
  versionsMax: 2,
};

function scribble(memory: Uint8Array, from: number, random: () => number): void {
  for (let i = 0; i < 200; i++) memory[from + Math.floor(random() * (memory.length - from))] = Math.floor(random() * 256);
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
