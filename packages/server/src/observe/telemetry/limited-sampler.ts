/**
 * Samples the first traces of each second, and no more than an exporter can keep up with. Beyond that its queue would be full and spans of
 * any trace would be dropped: better some traces whole than all of them in parts.
 */

import { type Sampler, SamplingDecision } from "@opentelemetry/sdk-trace";

const SAMPLED = { decision: SamplingDecision.RECORD_AND_SAMPLED };
const NOT_SAMPLED = { decision: SamplingDecision.NOT_RECORD };

export function limitedSampler(tracesPerS: number, now: () => number): Sampler {
  let second = Number.NaN;
  let sampled = 0;
  return {
    shouldSample() {
      const current = Math.floor(now() / 1_000);
      if (current !== second) {
        second = current;
        sampled = 0;
      }
      return ++sampled <= tracesPerS ? SAMPLED : NOT_SAMPLED;
    },
    toString: () => `Limited{${tracesPerS}/s}`,
  };
}
