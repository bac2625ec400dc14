/** What a handler is called with. */

import type { Logger } from "../client/settings.ts";
import type { Sessions } from "../events/sessions.ts";
import type { Defer } from "./defer.ts";
import type { FailureEvent } from "./inlet-function.ts";
import type { StepTools } from "./step-tools.ts";

export interface FunctionContext<Schemas, Checked, Event> {
  event: Event;
  /** All events of a batch; without batching just the one. */
  events: readonly [Event, ...Event[]];
  step: StepTools<Schemas, Checked>;
  /** Starts another function when this run has ended, however it ends. */
  defer: Defer;
  /** The sessions in which all events agree. What the run starts belongs to them too; you may change them. */
  sessions: Sessions;
  runId: string;
  /** 0 for the first attempt. It starts again with every step. */
  attempt: number;
  maxAttempts: number;
  /** Silent while steps that are done already are passed over, so a line is logged once, not once per call. */
  logger: Logger;
}

/** What an `onFailure` handler gets: the event says what failed, `error` is what it threw. */
export interface FailureContext<Schemas, Checked, Event> extends FunctionContext<Schemas, Checked, FailureEvent<Event>> {
  error: Error;
}
