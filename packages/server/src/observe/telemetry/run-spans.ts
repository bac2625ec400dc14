/** Spans of runs: how long a call waited in the queue, the call itself, and steps that ended. */

import type { EnvironmentId, FunctionNo } from "@inlet/protocol";
import type { ClaimedEntry, NewEvent, RunContext, RunRecord, StepWrite } from "../../store/contract/index.ts";
import type { SpanAttributes, Tracing } from "./tracing.ts";

export interface RunSpansParts {
  tracing: Tracing;
  functionId(no: FunctionNo): string;
  environmentName(id: EnvironmentId): string;
  now(): number;
}

export interface CallSpan {
  /** Sent to the app, whose spans then belong to this call. */
  readonly traceparent: string;
  /** `error` says what went wrong, if anything did. */
  end(endedAt: number, error: string | undefined): void;
}

export class RunSpans {
  readonly #parts: RunSpansParts;

  constructor(parts: RunSpansParts) {
    this.#parts = parts;
  }

  /** A call begins: its entry has waited since it was due. */
  call(entry: ClaimedEntry, { run, events }: RunContext): CallSpan {
    const { tracing, now } = this.#parts;
    const startedAt = now();
    const parent = events[0]?.trace;
    const attributes = { ...this.#attributes(run), "inlet.attempt": entry.attempt };
    const waited = tracing.begin({ name: "queue wait", parent, startedAt: Math.min(entry.dueAt, startedAt), attributes });
    waited.end({ endedAt: startedAt });
    // An event may have been stored while nothing was exported: it has no trace then.
    const span = tracing.begin({ name: "call", kind: "client", parent: parent ?? waited.traceparent, startedAt, attributes });
    return { traceparent: span.traceparent, end: (endedAt, error) => span.end({ endedAt, error }) };
  }

  /** Steps have ended: in the call named by `parent`, or in none. */
  steps(run: RunRecord, steps: readonly StepWrite[], parent: string | undefined): void {
    const { tracing } = this.#parts;
    for (const { id, kind, name, status, startedAt, endedAt } of steps) {
      if (endedAt === null) continue;
      const attributes = { ...this.#attributes(run), "inlet.step.id": id, "inlet.step.name": name, "inlet.step.kind": kind };
      const span = tracing.begin({ name: "step", parent, startedAt, attributes });
      span.end({ endedAt, error: status === "failed" ? "The step failed." : undefined });
    }
  }

  /** An event that comes from no request, a schedule's for instance, begins a trace. */
  traced(event: NewEvent): NewEvent {
    if (event.trace !== undefined) return event;
    const at = this.#parts.now();
    const span = this.#parts.tracing.begin({ name: "receive", parent: undefined, startedAt: at });
    span.end({ endedAt: at, attributes: { "inlet.source": "internal", "inlet.event.name": event.name } });
    return { ...event, trace: span.traceparent };
  }

  #attributes({ id, environmentId, functionNo }: RunRecord): SpanAttributes {
    const { functionId, environmentName } = this.#parts;
    return { "inlet.environment": environmentName(environmentId), "inlet.function.id": functionId(functionNo), "inlet.run.id": id };
  }
}
