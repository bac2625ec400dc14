/** The filters of the runs list, as URL parameters and as REST parameters. */

import type { Filters } from "../api/queries.ts";
import { RUN_STATUSES, type RunItem, type RunStatus } from "../api/types.ts";
import { instantsOf, readTimeRange, type TimeRange } from "../lists/time-range.ts";

export interface RunSearch extends TimeRange {
  status?: RunStatus;
  function?: string;
  /** Runs that this event, or this job, started. */
  event?: string;
  job?: string;
}

export function readRunSearch(search: Record<string, unknown>): RunSearch {
  const text = (name: string) => (search[name] === undefined || search[name] === "" ? {} : { [name]: String(search[name]) });
  return {
    ...(RUN_STATUSES.includes(search.status as RunStatus) && { status: search.status as RunStatus }),
    ...text("function"),
    ...text("event"),
    ...text("job"),
    ...readTimeRange(search),
  };
}

export function runFiltersOf({ status, function: fn, event, job, ...range }: RunSearch): Filters {
  return { status, function: fn, event, job, ...instantsOf(range) };
}

/** The same filters, applied to a run from the live stream. */
export function isWantedRun(run: RunItem, { status, function: fn, event, job, from, to }: Filters): boolean {
  if (status && run.status !== status) return false;
  if (fn && run.function.id !== fn) return false;
  if (event && run.event?.id !== event) return false;
  if (job && run.job !== job) return false;
  const createdAt = Date.parse(run.createdAt);
  return (from === undefined || createdAt >= Number(from)) && (to === undefined || createdAt < Number(to));
}
