/**
 * What a clean world for every request costs: our memory image, which is written back into one instance of the engine, beside the
 * snapshot and restore of quickjs-wasi, which make a new instance each time. Both run the same transform on the same body, in turn.
 */

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { QuickJS } from "quickjs-wasi";
import { logMemory } from "../packages/server/src/transform/sandbox/log-lines.ts";
import { compileQuickJs } from "../packages/server/src/transform/sandbox/quickjs.ts";
import { Sandbox } from "../packages/server/src/transform/sandbox/sandbox.ts";
import { median, type Row } from "./report.ts";
import { TYPICAL } from "./webhooks.ts";

const LIMITS = {
  timeoutMs: 250,
  memoryBytes: 32 * 1_048_576,
  stackBytes: 256 * 1_024,
  resultBytesMax: 524_288,
  logLinesMax: 100,
  logBytesMax: 16_384,
  versionsMax: 64,
};
const RUNS_PER_ROUND = 200;

export async function benchSandbox({ rounds }: { rounds: number }): Promise<Row[]> {
  const body = JSON.stringify({ type: "charge.succeeded", created: 1_700_000_000, note: "x".repeat(1_000) });
  const ours = imageRunner(body);
  const theirs = await snapshotRunner(body);
  const image: number[] = [];
  const snapshot: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const [imageMs, snapshotMs] = [await msPerRun(ours), await msPerRun(theirs)];
    // The first round warms both.
    if (round > 0) image.push(imageMs) && snapshot.push(snapshotMs);
  }
  const share = median(image.map((ms, index) => ms / (snapshot[index] as number)));
  return [
    { what: "memory image: a request of 1 KB", value: median(image), unit: "ms" },
    { what: "library's snapshot and restore: a request of 1 KB", value: median(snapshot), unit: "ms" },
    { what: "speed of the library beside the image", value: share, unit: "×", goal: "≥ 0.5", met: share >= 0.5 },
  ];
}

async function msPerRun(run: () => unknown): Promise<number> {
  const begun = performance.now();
  for (let n = 0; n < RUNS_PER_ROUND; n++) await run();
  return (performance.now() - begun) / RUNS_PER_ROUND;
}

function imageRunner(body: string): () => void {
  const sandbox = new Sandbox({ limits: LIMITS, logMemory: logMemory(LIMITS), module: compileQuickJs() });
  const request = { versionKey: "bench", source: TYPICAL, evtJson: null, headersJson: "{}", queryParamsJson: "{}", raw: body };
  return () => {
    const outcome = sandbox.run(request);
    if (!outcome.ok) throw new Error(outcome.message);
  };
}

async function snapshotRunner(body: string): Promise<() => Promise<void>> {
  const file = createRequire(import.meta.url).resolve("quickjs-wasi/quickjs.wasm");
  const wasm = new WebAssembly.Module(readFileSync(file));
  const options = { wasm, memoryLimit: LIMITS.memoryBytes };
  const first = await QuickJS.create(options);
  first.evalCode(`${TYPICAL}\nglobalThis.run = (raw) => JSON.stringify(transform(JSON.parse(raw), {}, {}, raw));`).dispose();
  const snapshot = first.snapshot();
  first.dispose();
  return async () => {
    const vm = await QuickJS.restore(snapshot, options);
    const result = vm.callFunction(vm.global.getProp("run"), vm.undefined, vm.newString(body));
    if (!result.toString().startsWith('{"name":"stripe/charge.succeeded"')) throw new Error("the transform did not run");
    vm.dispose();
  };
}
