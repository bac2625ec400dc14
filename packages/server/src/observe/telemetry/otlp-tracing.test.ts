import assert from "node:assert/strict";
import { test } from "node:test";
import {
  AlwaysOnSampler,
  InMemorySpanExporter,
  ParentBasedSampler,
  type Sampler,
  SimpleSpanProcessor,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { createOtlpTracing } from "./otlp-tracing.ts";

const IDS = "0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331";

function tracingWith(sampler: Sampler, honoursParent: boolean) {
  const exporter = new InMemorySpanExporter();
  const provider = new TracerProvider({ sampler, spanProcessors: [new SimpleSpanProcessor({ exporter })] });
  const tracing = createOtlpTracing(provider.getTracer("test"), { honoursParent });
  const end = (parent: string | undefined) => {
    const span = tracing.begin({ name: "call", parent, startedAt: 1_000 });
    span.end({ endedAt: 2_000 });
    return span.traceparent;
  };
  return { end, exported: () => exporter.getFinishedSpans().map(({ parentSpanContext }) => parentSpanContext?.spanId) };
}

test("a span below one that is sampled is exported, one below another is not, and the app learns which", () => {
  const { end, exported } = tracingWith(new ParentBasedSampler({ root: new AlwaysOnSampler() }), true);
  assert.match(end(`00-${IDS}-01`), /^00-0af7651916cd43dd8448eb211c80319c-(?!b7ad6b7169203331)\w{16}-01$/);
  assert.equal(end(`00-${IDS}-00`), `00-${IDS}-00`);
  assert.match(end(`00-${IDS}-03`), /-01$/, "other flags are not ours");
  assert.match(end(undefined), /^00-(?!0af7)\w{32}-\w{16}-01$/);
  assert.deepEqual(exported(), ["b7ad6b7169203331", "b7ad6b7169203331", undefined]);
});

test("a sampler that does not look at the span above samples whatever that says", () => {
  const { end, exported } = tracingWith(new AlwaysOnSampler(), false);
  assert.match(end(`00-${IDS}-00`), /^00-0af7651916cd43dd8448eb211c80319c-\w{16}-01$/);
  assert.equal(exported().length, 1);
});
