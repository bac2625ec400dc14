/** The units of work that change runs, and their results. */

import type { ClaimedEntry, FunctionStartChange, FunctionStartParams, RunAdvanceParams, RunStartParams } from "../../contract/index.ts";
import type { Appending } from "../../events/postgres/append-events.ts";
import type { Arrival } from "../../queue/postgres/queue-entries.ts";
import type { Cancelling } from "../../waits/postgres/resume-runs.ts";

export type Decision =
  | { kind: "advance"; params: RunAdvanceParams }
  | { kind: "start run"; params: RunStartParams }
  | { kind: "start function"; params: FunctionStartParams };

export interface DecisionResult {
  applied: boolean;
  leased: ClaimedEntry[];
  refused: FunctionStartChange["refused"];
}

/** Effects of units that are applied once all of them are decided. */
export interface Consequences {
  appendings: Appending[];
  arrivals: Arrival[];
  cancelled: Cancelling[];
}
