/** The filters of the runs list, as URL parameters. */

import { RUN_STATUSES, type RunStatus } from "../api/types.ts";
import { RANGES } from "../events/event-search.ts";

export interface RunSearch {
  status?: RunStatus;
  function?: string;
  range?: string;
}

export function readRunSearch(search: Record<string, unknown>): RunSearch {
  return {
    ...(RUN_STATUSES.includes(search.status as RunStatus) && { status: search.status as RunStatus }),
    ...(typeof search.function === "string" && search.function !== "" && { function: search.function }),
    ...(String(search.range) in RANGES && { range: String(search.range) }),
  };
}
