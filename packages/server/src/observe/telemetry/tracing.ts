/**
 * Spans as the service sees them. Exporting is OpenTelemetry's (open-telemetry.ts), which is loaded only when an exporter is configured. Without one there
 * is no Tracing, and what would make a span makes one check instead.
 */

/** The words of contract and documentation. */
export type SpanName = "receive" | "transform" | "store" | "queue wait" | "call" | "step";

export type SpanAttributes = Record<string, string | number>;

export interface NewSpan {
  name: SpanName;
  /** `server` answers a request, `client` makes one. */
  kind?: "server" | "client";
  /** The `traceparent` of the span above. Absent: a trace begins. */
  parent: string | undefined;
  /** Milliseconds since 1970; fractions count. */
  startedAt: number;
  attributes?: SpanAttributes;
}

export interface SpanEnd {
  endedAt: number;
  /** Why it failed. Absent: it did not. */
  error?: string | undefined;
  attributes?: SpanAttributes;
}

export interface Span {
  /** Names this span to those below it. */
  readonly traceparent: string;
  end(end: SpanEnd): void;
}

export interface Tracing {
  begin(span: NewSpan): Span;
}
