/** Jobs: bulk operations on the items of a list, counted by a dry run before they start. */

import type { JobDetailsView, JobKindName, JobView } from "@inlet/protocol";
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { call, callForPage, parsed } from "./client.ts";
import type { Filters } from "./queries.ts";

export interface JobRequest {
  kind: JobKindName;
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

/** `query` restricts the list. */
export const jobsQuery = (env: string, query: Filters) =>
  infiniteQueryOptions({
    queryKey: ["jobs", env, "list", query],
    queryFn: ({ pageParam }) => callForPage<JobView>("/jobs", parsed, { env, query: { ...query, limit: 50, cursor: pageParam } }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next ?? undefined,
    refetchInterval: REFRESH_MS,
  });

export const jobQuery = (env: string, id: string) =>
  queryOptions({
    queryKey: ["jobs", env, id],
    queryFn: () => call<JobDetailsView>(`/jobs/${encodeURIComponent(id)}`, { env }),
    refetchInterval: ({ state }) => (state.data?.endedAt && !state.data.runs?.unfinished ? false : WATCH_MS),
  });

/** The last drill of a webhook in a branch environment; null: there is none among its last jobs. */
export const lastDrillQuery = (env: string, webhookId: string) =>
  queryOptions({
    queryKey: ["jobs", env, "drill", webhookId],
    queryFn: async () => {
      const { items } = await callForPage<JobView>("/jobs", parsed, { env, query: { limit: 100, scheduled: "false" } });
      return items.find(({ kind, filter }) => kind === "webhooks.drill" && filter.webhook === webhookId) ?? null;
    },
  });

export function startDrill(webhookId: string, environment: string): Promise<JobDetailsView> {
  return call<JobDetailsView>(`/webhooks/${encodeURIComponent(webhookId)}/drill`, { method: "POST", body: { environment } });
}

export const jobPreviewQuery = (env: string, request: JobRequest) =>
  queryOptions({
    queryKey: ["job-preview", env, request],
    queryFn: () => call<JobPreview>("/jobs", { method: "POST", env, body: { ...bodyOf(request), dryRun: true } }),
    // The matching items change all the time, so every dialog counts again.
    gcTime: 0,
    staleTime: 0,
  });

export function createJob(env: string, request: JobRequest): Promise<JobView> {
  return call<JobView>("/jobs", { method: "POST", env, body: bodyOf(request) });
}

export function cancelJob(env: string, id: string): Promise<JobView> {
  return call<JobView>(`/jobs/${encodeURIComponent(id)}/cancel`, { method: "POST", env });
}

/** Parameters of a list are text. An empty filter means every item, which must be explicit. */
function bodyOf({ kind, filter, function: fn }: JobRequest): object {
  const given = Object.entries(filter).filter(([, value]) => value !== undefined && value !== "");
  return {
    kind,
    filter: Object.fromEntries(given.map(([name, value]) => [name, String(value)])),
    ...(given.length === 0 && { all: true }),
    ...(fn !== undefined && { function: fn }),
  };
}
