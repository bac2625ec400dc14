/**
 * Transforms in the sandbox of the service: in virtual time in this thread, since other threads would answer whenever they like, and in real
 * time on threads. Without a source, requests are events as they come.
 */

import { createTransformRunner, type SandboxLimits, type TransformRequest, type TransformRunner } from "../../src/transform/index.ts";
import { logMemory } from "../../src/transform/sandbox/log-lines.ts";
import { compileQuickJs } from "../../src/transform/sandbox/quickjs.ts";
import { Sandbox } from "../../src/transform/sandbox/sandbox.ts";

/** Of time, far more than is needed: this thread has other work. */
const LIMITS: SandboxLimits = {
  timeoutMs: 60_000,
  memoryBytes: 32 * 1_048_576,
  stackBytes: 256 * 1_024,
  resultBytesMax: 1_048_576,
  logLinesMax: 100,
  logBytesMax: 16_384,
  versionsMax: 64,
};

/** Compiled with the first transform. */
let module: WebAssembly.Module | null = null;

export function createTransforms(isRealTime: boolean): TransformRunner {
  const runner = isRealTime ? createTransformRunner({ quickThreads: 1, limits: LIMITS }) : runInline();
  const run: TransformRunner["run"] = async (request) =>
    request.source === "" ? { ok: true, eventJson: request.evtJson, logs: [], durationMs: 0 } : runner.run(request);
  return {
    start: () => runner.start(),
    stop: () => runner.stop(),
    check: (source, entry) => runner.check(source, entry),
    run,
    load: runner.load,
  };
}

function runInline(): TransformRunner {
  let sandbox: Sandbox | null = null;
  const open = () => {
    module ??= compileQuickJs();
    sandbox ??= new Sandbox({ limits: LIMITS, logMemory: logMemory(LIMITS), module });
    return sandbox;
  };
  return {
    start: () => undefined,
    stop: async () => undefined,
    run: async (request) => ({ ...open().run(runOf(request)), durationMs: 0 }),
    check: async (source, entry) => open().check(source, entry),
    load: { running: 0, waiting: 0, threads: 0 },
  };
}

function runOf({ versionKey, source, entry, evtJson, headers, queryParams, raw }: TransformRequest) {
  const texts = { headersJson: JSON.stringify(headers), queryParamsJson: JSON.stringify(queryParams) };
  return { versionKey, source, entry, evtJson: evtJson === raw ? null : evtJson, raw, ...texts };
}
