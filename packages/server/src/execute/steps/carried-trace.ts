/** Events that a run emits continue the trace of the event that started it. */

import type { NewEvent, RunState } from "../../store/contract/index.ts";

export function carriedTrace({ events }: Pick<RunState, "events">): Pick<NewEvent, "trace"> {
  const trace = events()[0]?.trace;
  return trace === undefined ? {} : { trace };
}
