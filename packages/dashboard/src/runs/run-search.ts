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
  /** Text in the error. */
  error?: string;
  /** The pattern of the error, as groups of failures have it. */
  errorPattern?: string;
  /** Whether it was rerun since. */
  rerun?: "true" | "false";
  /** An expression over the payload of the event. */
  where?: string;
}

export function readRunSearch(search: Record<string, unknown>): RunSearch {
  const text = (name: string) => (search[name] === undefined || search[name] === "" ? {} : { [name]: String(search[name]) });
  return {
    ...(RUN_STATUSES.includes(search.status as RunStatus) && { status: search.status as RunStatus }),
    ...text("function"),
    ...text("event"),
    ...text("job"),
    ...text("error"),
    ...text("errorPattern"),
    ...(/^(?:true|false)$/.test(String(search.rerun)) && text("rerun")),
    ...text("where"),
    ...readTimeRange(search),
  };
}

export function runFiltersOf({ status, function: fn, event, job, error, errorPattern, rerun, where, ...range }: RunSearch): Filters {
  return { status, function: fn, event, job, error, errorPattern, rerun, where, ...instantsOf(range) };
}

/** The same filters, applied to a run from the live stream. Only the service evaluates expressions and patterns, and knows reruns. */
export function isWantedRun(run: RunItem, { status, function: fn, event, job, error, from, to }: Filters): boolean {
  if (status && run.status !== status) return false;
  if (fn && run.function.id !== fn) return false;
  if (event && run.event?.id !== event) return false;
  if (job && run.job !== job) return false;
  if (error && !`${run.error?.name}\n${run.error?.message}`.toLowerCase().includes(String(error).toLowerCase())) return false;
  const createdAt = Date.parse(run.createdAt);
  return (from === undefined || createdAt >= Number(from)) && (to === undefined || createdAt < Number(to));
}
