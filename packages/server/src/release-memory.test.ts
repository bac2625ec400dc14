import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";

const MODULE = JSON.stringify(new URL("release-memory.ts", import.meta.url).href);
/** V8 waits no longer than this before it gives memory back, and tells of it. */
const V8_FLAGS = ["--trace-memory-reducer", "--gc-memory-reducer-start-delay-ms=50"];

async function outputOf(script: string, flags: readonly string[] = []): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, "--input-type=module", "--eval", script]);
  return stdout;
}

const WORK = `
  const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  async function work() {
    for (let round = 0; round < 40; round++) {
      globalThis.held = Array.from({ length: 200_000 }, (_, n) => ({ n }));
      await pause(5);
    }
    globalThis.held = null;
  }`;

test("V8 is kept from giving memory back after short pauses", async () => {
  const pausing = `${WORK} await work(); await pause(500);`;
  assert.match(await outputOf(pausing, V8_FLAGS), /Memory reducer: waiting/, "which it would do by itself");
  const kept = await outputOf(`import { releaseMemoryAtRest } from ${MODULE}; releaseMemoryAtRest(); ${pausing}`, V8_FLAGS);
  assert.doesNotMatch(kept, /Memory reducer: (waiting|started)/);
});

test("memory is given back once the thread has rested", async () => {
  const script = `
    import { releaseMemoryAtRest } from ${MODULE};
    ${WORK}
    releaseMemoryAtRest({ checkMs: 50, checks: 3 });
    await work();
    const busy = process.memoryUsage().heapTotal;
    const deadline = performance.now() + 20_000;
    while (process.memoryUsage().heapTotal > busy / 2 && performance.now() < deadline) await pause(20);
    console.log(JSON.stringify({ busy, rested: process.memoryUsage().heapTotal }));`;
  const { busy, rested } = JSON.parse(await outputOf(script)) as { busy: number; rested: number };
  assert.ok(rested <= busy / 2, `${rested} of ${busy} bytes are still held`);
});
