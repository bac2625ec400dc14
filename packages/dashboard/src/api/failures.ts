/** Failed runs, grouped by function and the pattern of their error. */

import { queryOptions } from "@tanstack/react-query";
import { call, callForAll } from "./client.ts";
import { keepForSubject } from "./same-subject.ts";

export const FAILURE_STATES = ["open", "resolved", "ignored"] as const;
export type FailureState = (typeof FAILURE_STATES)[number];

export interface FailureGroup {
  function: { id: string; name: string };
  /** Of the newest run; `pattern` has `*` for what differs between them. */
  error: { name: string; message: string; pattern: string };
  /** Those that were not rerun since. */
  count: number;
  /** Those that were. */
  rerun: number;
  first: string;
  last: string;
  /** The newest of them. */
  runs: string[];
  /** How many failed in each of the equal parts of the time range. */
  trend: number[];
  state: FailureState;
  decided: { state: FailureState; at: string; by: string } | null;
}

export interface FailureFilter {
  /** Runs created at or after this time. */
  from: number;
  function?: string | undefined;
  state?: FailureState | undefined;
  q?: string | undefined;
}

const REFRESH_MS = 10_000;

export const failuresQuery = (env: string, filter: FailureFilter) =>
  queryOptions({
    queryKey: ["failures", env, filter],
    queryFn: () => callForAll<FailureGroup>("/failures", { env, query: { limit: 100, ...filter } }),
    refetchInterval: REFRESH_MS,
    placeholderData: keepForSubject(["failures", env, { state: filter.state, function: filter.function, q: filter.q }]),
  });

export function decideFailure(env: string, { function: fn, error }: FailureGroup, state: FailureState): Promise<unknown> {
  return call("/failures", { method: "PUT", env, body: { function: fn.id, pattern: error.pattern, state } });
}
