import assert from "node:assert/strict";
import { test } from "node:test";
import { ROOT_CONTEXT, SpanKind } from "@opentelemetry/api";
import { SamplingDecision } from "@opentelemetry/sdk-trace";
import { limitedSampler } from "./limited-sampler.ts";

test("so many traces of each second are sampled, and no more", () => {
  let now = 10_000;
  const sampler = limitedSampler(3, () => now);
  const sampledOf = (traces: number) =>
    Array.from({ length: traces }, () => sampler.shouldSample(ROOT_CONTEXT, "1".repeat(32), "receive", SpanKind.SERVER, {}, [])).filter(
      ({ decision }) => decision === SamplingDecision.RECORD_AND_SAMPLED,
    ).length;
  assert.equal(sampledOf(2), 2);
  now = 10_999;
  assert.equal(sampledOf(10), 1);
  now = 11_000;
  assert.equal(sampledOf(10), 3);
  now = 20_500;
  assert.equal(sampledOf(3), 3);
});
