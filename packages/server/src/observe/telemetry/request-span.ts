/** The span of one request to `/e/…`, from its first byte to its response, and of the work done for it. */

import type { Span, SpanAttributes, SpanName, Tracing } from "./tracing.ts";

export interface RequestSpanParts {
  tracing: Tracing;
  now(): number;
}

export interface WorkSpan {
  end(error?: string): void;
}

export class RequestSpan {
  readonly #tracing: Tracing;
  readonly #startedAt: number;
  readonly #startedTick = performance.now();
  readonly #parent: string | null;
  #span: Span | null = null;

  /** `parent` is the sender's `traceparent`. */
  constructor({ tracing, now }: RequestSpanParts, parent: string | null) {
    this.#tracing = tracing;
    this.#startedAt = now();
    this.#parent = parent;
  }

  /** The `traceparent` that events keep. A sender that named no trace continues `ofRun`, the trace of the run it is part of. */
  traceparent(ofRun?: string | null): string {
    this.#span ??= this.#tracing.begin({
      name: "receive",
      kind: "server",
      parent: this.#parent ?? ofRun ?? undefined,
      startedAt: this.#startedAt,
    });
    return this.#span.traceparent;
  }

  begin(name: SpanName): WorkSpan {
    const span = this.#tracing.begin({ name, parent: this.traceparent(), startedAt: this.#time() });
    return { end: (error) => span.end({ endedAt: this.#time(), error }) };
  }

  end(attributes: SpanAttributes, error?: string): void {
    this.traceparent();
    this.#span?.end({ endedAt: this.#time(), attributes, error });
  }

  /** In fractions of a millisecond, whatever the clock's resolution. */
  #time(): number {
    return this.#startedAt + performance.now() - this.#startedTick;
  }
}
