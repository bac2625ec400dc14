/** For tests: runs a source text with the parts of a request a test does not care about filled in. */

import assert from "node:assert/strict";
import type { TransformFailure, TransformOutcome, TransformRequest } from "../transform-outcome.ts";
import { createTransformRunner, type TransformRunner, type TransformRunnerOptions } from "./transform-runner.ts";

export interface TestRunner {
  runner: TransformRunner;
  run(source: string, request?: Partial<TransformRequest>): Promise<TransformOutcome>;
  /** The event the source returns; fails when it does not return one. */
  event(source: string, request?: Partial<TransformRequest>): Promise<Record<string, unknown>>;
  failure(source: string, request?: Partial<TransformRequest>): Promise<TransformFailure>;
}

/** Of CPU time, and no healthy transform of a test needs it. A starved host counts time that it took from this machine as if it was used. */
const PATIENT_MS = 2_000;

export function testRunner(options: TransformRunnerOptions = {}): TestRunner {
  const runner = createTransformRunner({ ...options, limits: { timeoutMs: PATIENT_MS, ...options.limits } });
  const run = (source: string, request: Partial<TransformRequest> = {}) =>
    runner.run({ versionKey: source, source, evtJson: "{}", headers: {}, queryParams: {}, raw: "", ...request });
  return {
    runner,
    run,
    async event(source, request) {
      const outcome = await run(source, request);
      assert.ok(outcome.ok, `expected an event, got ${JSON.stringify(outcome)}`);
      return JSON.parse(outcome.eventJson);
    },
    async failure(source, request) {
      const outcome = await run(source, request);
      assert.ok(!outcome.ok, `expected a failure, got ${JSON.stringify(outcome)}`);
      return outcome;
    },
  };
}
