/** Events that a run emits name the run, and continue the trace of the event that started it. */

import type { NewEvent, RunState } from "../../store/contract/index.ts";

export function emittedBy({ run, events }: Pick<RunState, "run" | "events">): Pick<NewEvent, "trace" | "sourceRun"> {
  const trace = events()[0]?.trace;
  return { sourceRun: run.id, ...(trace !== undefined && { trace }) };
}
