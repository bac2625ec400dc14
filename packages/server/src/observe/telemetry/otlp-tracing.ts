/** Spans of ours as OpenTelemetry's. Parents are given as `traceparent` texts, since a run may go on in another process. */

import {
  type Context,
  type Span as OtlpSpan,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import type { NewSpan, Span, SpanEnd, Tracing } from "./tracing.ts";

const NOTHING = () => undefined;
const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT } as const;

/** With `honoursParent`, nothing is made below a span that is not sampled: what the sampler would say is known. */
export function createOtlpTracing(tracer: Tracer, { honoursParent }: { honoursParent: boolean }): Tracing {
  return {
    begin({ name, kind, parent, startedAt, attributes }: NewSpan): Span {
      if (honoursParent && parent !== undefined && !isSampled(parent)) return { traceparent: parent, end: NOTHING };
      const options = { kind: kind ? KINDS[kind] : SpanKind.INTERNAL, startTime: startedAt, ...(attributes && { attributes }) };
      const span = tracer.startSpan(name, options, parent === undefined ? ROOT_CONTEXT : contextOf(parent));
      return { traceparent: traceparentOf(span), end: (end) => endSpan(span, end) };
    },
  };
}

function endSpan(span: OtlpSpan, { endedAt, error, attributes }: SpanEnd): void {
  if (attributes) span.setAttributes(attributes);
  if (error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: error });
  span.end(endedAt);
}

/** `00-<trace id>-<span id>-<flags>`; only valid ones are kept with events. */
function contextOf(traceparent: string): Context {
  const traceFlags = isSampled(traceparent) ? TraceFlags.SAMPLED : TraceFlags.NONE;
  const spanContext = { traceId: traceparent.slice(3, 35), spanId: traceparent.slice(36, 52), traceFlags, isRemote: true };
  return trace.setSpanContext(ROOT_CONTEXT, spanContext);
}

function isSampled(traceparent: string): boolean {
  return (Number.parseInt(traceparent.slice(53, 55), 16) & TraceFlags.SAMPLED) !== 0;
}

function traceparentOf(span: OtlpSpan): string {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return `00-${traceId}-${spanId}-${traceFlags & TraceFlags.SAMPLED ? "01" : "00"}`;
}
