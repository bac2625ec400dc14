/** The arguments of a handler. */

import type { Logger } from "../client/settings.ts";
import type { Sessions } from "../events/sessions.ts";
import type { Defer } from "./defer.ts";
import type { FailureEvent } from "./inlet-function.ts";
import type { StepTools } from "./step-tools.ts";

export interface FunctionContext<Schemas, Checked, Event> {
  event: Event;
  /** All events of a batch; without batching, the one event. */
  events: readonly [Event, ...Event[]];
  step: StepTools<Schemas, Checked>;
  /** Starts another function when this run has ended, however it ends. */
  defer: Defer;
  /** The sessions in which all events agree. What the run starts belongs to them too; you can change them. */
  sessions: Sessions;
  runId: string;
  /** 0 for the first attempt. Counted separately for each step. */
  attempt: number;
  maxAttempts: number;
  /** Silent while completed steps are replayed, so each line is logged once. */
  logger: Logger;
}

/** The arguments of an `onFailure` handler: the event describes the failure, `error` is the error. */
export interface FailureContext<Schemas, Checked, Event> extends FunctionContext<Schemas, Checked, FailureEvent<Event>> {
  error: Error;
}
