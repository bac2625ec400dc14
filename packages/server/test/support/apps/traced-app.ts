/** An app that makes spans of its own with OpenTelemetry, as its users' apps do: one for every call, below what the call's `traceparent` names. */

import type { RequestListener } from "node:http";
import type { TestContext } from "node:test";
import { ROOT_CONTEXT, trace } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { onEnd } from "../on-end.ts";

export const APP_SERVICE = "shop";

export function withAppSpans(t: TestContext, collectorUrl: string, listener: RequestListener): RequestListener {
  const exporter = new OTLPTraceExporter({ url: `${collectorUrl}/v1/traces` });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ "service.name": APP_SERVICE }),
    spanProcessors: [new SimpleSpanProcessor({ exporter })],
  });
  onEnd(t, () => provider.shutdown());
  const tracer = provider.getTracer(APP_SERVICE);
  return (request, response) => {
    const [, traceId, spanId] = /^00-(\w{32})-(\w{16})-01$/.exec(String(request.headers.traceparent)) ?? [];
    if (traceId && spanId) {
      const span = tracer.startSpan("handle", {}, trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: 1, isRemote: true }));
      response.once("close", () => span.end());
    }
    listener(request, response);
  };
}
