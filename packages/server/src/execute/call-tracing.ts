/** Callbacks of the executor while traces are exported. */

import type { ClaimedEntry, RunContext, RunRecord, StepWrite } from "../store/contract/index.ts";

export interface RunTracing {
  /** A call is about to be made. */
  call(entry: ClaimedEntry, context: RunContext): CallSpan;
  /** Steps have ended; their spans are children of `parent`. */
  steps(run: RunRecord, steps: readonly StepWrite[], parent: string | undefined): void;
}

export interface CallSpan {
  /** Sent to the app, whose spans then belong to this call. */
  readonly traceparent: string;
  end(endedAt: number, error: string | undefined): void;
}
