/** Jobs: bulk work on the entries of a list, counted by a dry run before it begins. */

import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { call, callForPage, parsed } from "./client.ts";
import type { Filters } from "./queries.ts";

export const JOB_KINDS = ["events.replay", "runs.rerun", "runs.cancel", "requests.replay", "events.erase"] as const;
export type JobKind = (typeof JOB_KINDS)[number];

export interface Job {
  id: string;
  kind: JobKind;
  filter: Record<string, unknown>;
  function: string | null;
  status: "queued" | "running" | "completed" | "cancelled" | "failed";
  total: number;
  done: number;
  failed: number;
  rate: number;
  errors: { item: string | null; message: string }[];
  createdAt: string;
  startedAt: string | null;
  endedAt: string | null;
}

export interface JobRequest {
  kind: JobKind;
  filter: Filters;
  function?: string;
}

export interface JobPreview {
  total: number;
  /** Events, runs or requests, as their lists show them. */
  samples: Record<string, unknown>[];
}

const WATCH_MS = 1_000;
const REFRESH_MS = 5_000;

export const jobsQuery = (env: string) =>
  infiniteQueryOptions({
    queryKey: ["jobs", env],
    queryFn: ({ pageParam }) => callForPage<Job>("/jobs", parsed, { env, query: { limit: 50, cursor: pageParam } }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next ?? undefined,
    refetchInterval: REFRESH_MS,
  });

export const jobQuery = (env: string, id: string) =>
  queryOptions({
    queryKey: ["jobs", env, id],
    queryFn: () => call<Job>(`/jobs/${encodeURIComponent(id)}`, { env }),
    refetchInterval: ({ state }) => (state.data?.endedAt ? false : WATCH_MS),
  });

export const jobPreviewQuery = (env: string, request: JobRequest) =>
  queryOptions({
    queryKey: ["job-preview", env, request],
    queryFn: () => call<JobPreview>("/jobs", { method: "POST", env, body: { ...bodyOf(request), dryRun: true } }),
    // What matches changes all the time: every dialog counts anew.
    gcTime: 0,
    staleTime: 0,
  });

export function createJob(env: string, request: JobRequest): Promise<Job> {
  return call<Job>("/jobs", { method: "POST", env, body: bodyOf(request) });
}

export function cancelJob(env: string, id: string): Promise<Job> {
  return call<Job>(`/jobs/${encodeURIComponent(id)}/cancel`, { method: "POST", env });
}

/** Parameters of a list are text. An empty filter means every entry, which has to be said. */
function bodyOf({ kind, filter, function: fn }: JobRequest): object {
  const given = Object.entries(filter).filter(([, value]) => value !== undefined && value !== "");
  return {
    kind,
    filter: Object.fromEntries(given.map(([name, value]) => [name, String(value)])),
    ...(given.length === 0 && { all: true }),
    ...(fn !== undefined && { function: fn }),
  };
}
