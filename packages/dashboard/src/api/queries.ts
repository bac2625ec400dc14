/** The queries of all pages, with shared keys, so that a change refreshes every page that shows the data. */

import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { call, callForAll, callForPage, callForText, parsed } from "./client.ts";
import { readEvent, readRun } from "./read-items.ts";
import { keepForSubject } from "./same-subject.ts";
import type { Stats } from "./stats.ts";
import { BARS, intervalFor } from "./stats-bars.ts";
import type {
  AppItem,
  AuditEntry,
  Database,
  Environment,
  EventType,
  EventTypeDetails,
  FunctionItem,
  Key,
  Provider,
  RoleRule,
  RunItem,
  Webhook,
  WebhookRequest,
  WebhookVersion,
} from "./types.ts";

export type Filters = Record<string, string | number | undefined>;

/** The page size of lists: fills a tall window and still loads quickly. */
export const PAGE_ITEMS = 50;

/** How long the pages of a list are kept for those who come back to it. */
const LISTS_KEPT_MS = 10 * 60_000;

const nextPage = (last: { next: string | null }) => last.next ?? undefined;
const noCursor: string | undefined = undefined;

export const eventPage = (env: string, filters: Filters, cursor?: string) =>
  callForPage("/events", readEvent, { env, query: { limit: PAGE_ITEMS, ...filters, cursor } });

export const eventsQuery = (env: string, filters: Filters) =>
  infiniteQueryOptions({
    queryKey: ["events", env, filters],
    queryFn: ({ pageParam }) => eventPage(env, filters, pageParam),
    initialPageParam: noCursor,
    getNextPageParam: nextPage,
    // New items arrive through the live stream.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: LISTS_KEPT_MS,
  });

export const eventQuery = (env: string, id: string) =>
  queryOptions({
    queryKey: ["event", env, id],
    queryFn: async () => readEvent(await callForText(`/events/${encodeURIComponent(id)}`, { env })),
  });

/** What an event did to runs. */
export type EventRelation = "started" | "resumed" | "cancelled";

export const eventRunsQuery = (env: string, id: string, relation: EventRelation) =>
  queryOptions({
    queryKey: ["event-runs", env, id, relation],
    queryFn: () => callForPage<RunItem>(`/events/${encodeURIComponent(id)}/runs`, parsed, { env, query: { relation, limit: 100 } }),
  });

export const eventTypesQuery = (env: string) =>
  queryOptions({ queryKey: ["event-types", env], queryFn: () => callForAll<EventType>("/event-types", { env, query: { limit: 100 } }) });

export const eventTypeQuery = (env: string, name: string) =>
  queryOptions({
    queryKey: ["event-types", env, name],
    queryFn: () => call<EventTypeDetails>(`/event-types/${encodeURIComponent(name)}`, { env }),
  });

export const runPage = (env: string, filters: Filters, cursor?: string) =>
  callForPage<RunItem>("/runs", parsed, { env, query: { limit: PAGE_ITEMS, ...filters, cursor } });

export const runsQuery = (env: string, filters: Filters) =>
  infiniteQueryOptions({
    queryKey: ["runs", env, filters],
    queryFn: ({ pageParam }) => runPage(env, filters, pageParam),
    initialPageParam: noCursor,
    getNextPageParam: nextPage,
    gcTime: LISTS_KEPT_MS,
  });

export const runQuery = (env: string, id: string) =>
  queryOptions({ queryKey: ["run", env, id], queryFn: async () => readRun(await callForText(`/runs/${encodeURIComponent(id)}`, { env })) });

export const functionsQuery = (env: string) =>
  queryOptions({ queryKey: ["functions", env], queryFn: () => callForAll<FunctionItem>("/functions", { env, query: { limit: 100 } }) });

export const appsQuery = (env: string) =>
  queryOptions({ queryKey: ["apps", env], queryFn: () => callForAll<AppItem>("/apps", { env, query: { limit: 100 } }) });

export const environmentsQuery = queryOptions({
  queryKey: ["environments"],
  queryFn: () => callForAll<Environment>("/environments", { query: { limit: 100 } }),
  staleTime: 30_000,
});

export const databasesQuery = queryOptions({
  queryKey: ["databases"],
  queryFn: () => callForAll<Database>("/databases", { query: { limit: 100 } }),
  // Whether a database is reachable changes by itself.
  refetchInterval: 10_000,
});

export const keysQuery = (env: string) =>
  queryOptions({ queryKey: ["keys", env], queryFn: () => callForAll<Key>("/keys", { env, query: { limit: 100 } }) });

export const roleRulesQuery = (env: string) =>
  queryOptions({ queryKey: ["role-rules", env], queryFn: () => callForAll<RoleRule>("/role-rules", { env, query: { limit: 100 } }) });

export const webhooksQuery = (env: string) =>
  queryOptions({ queryKey: ["webhooks", env], queryFn: () => callForAll<Webhook>("/webhooks", { env, query: { limit: 100 } }) });

export const webhookQuery = (id: string) =>
  queryOptions({ queryKey: ["webhook", id], queryFn: ({ signal }) => call<Webhook>(`/webhooks/${encodeURIComponent(id)}`, { signal }) });

export const versionsQuery = (id: string) =>
  queryOptions({
    queryKey: ["webhook-versions", id],
    queryFn: ({ signal }) => callForAll<WebhookVersion>(`/webhooks/${encodeURIComponent(id)}/versions`, { query: { limit: 100 }, signal }),
  });

export const requestsQuery = (id: string, filters: Filters) =>
  infiniteQueryOptions({
    queryKey: ["webhook-requests", id, filters],
    queryFn: ({ pageParam, signal }) =>
      callForPage<WebhookRequest>(`/webhooks/${encodeURIComponent(id)}/requests`, parsed, {
        query: { ...filters, limit: 20, cursor: pageParam },
        signal,
      }),
    initialPageParam: noCursor,
    getNextPageParam: nextPage,
    refetchInterval: 5_000,
  });

export const requestQuery = (webhookId: string, id: string) =>
  queryOptions({
    queryKey: ["webhook-requests", webhookId, "one", id],
    queryFn: ({ signal }) =>
      call<WebhookRequest>(`/webhooks/${encodeURIComponent(webhookId)}/requests/${encodeURIComponent(id)}`, { signal }),
  });

export interface WebhookStats {
  intervalMs: number;
  points: { at: string; outcomes: Record<string, number> }[];
}

export const webhookStatsQuery = (id: string, from: number, to: number) =>
  queryOptions({
    queryKey: ["webhook-stats", id, from, to],
    queryFn: () => call<WebhookStats>(`/webhooks/${encodeURIComponent(id)}/stats`, { query: { from, to, points: BARS } }),
    placeholderData: keepForSubject(["webhook-stats", id]),
    gcTime: 60_000,
  });

export interface WebhookHealth {
  id: string;
  lastRequestAt: string | null;
  outcomes: string[];
}

export const webhookHealthQuery = (env: string) =>
  queryOptions({
    queryKey: ["webhook-health", env],
    queryFn: () => callForAll<WebhookHealth>("/webhooks/health", { env, query: { limit: 100 } }),
    refetchInterval: 10_000,
  });

export const lastRequestQuery = (id: string) =>
  queryOptions({
    queryKey: ["webhook-requests", id, "last"],
    queryFn: async ({ signal }) =>
      (await callForPage<WebhookRequest>(`/webhooks/${encodeURIComponent(id)}/requests`, parsed, { query: { limit: 20 }, signal })).items,
    // A user who waits for the first request looks at the page.
    refetchInterval: (query) => (query.state.data?.length === 0 ? 2_000 : 10_000),
  });

export const providersQuery = queryOptions({
  queryKey: ["providers"],
  queryFn: () => callForAll<Provider>("/transforms/providers", { query: { limit: 100 } }),
  staleTime: Number.POSITIVE_INFINITY,
});

export const statsQuery = (env: string, from: number, to: number) =>
  queryOptions({
    queryKey: ["stats", env, from, to],
    queryFn: async () => {
      const interval = intervalFor(from, to);
      return call<Stats>("/stats", { env, query: { from, to, interval, points: BARS } });
    },
    placeholderData: keepForSubject(["stats", env]),
    gcTime: 60_000,
  });

export const auditQuery = (filters: Filters) =>
  infiniteQueryOptions({
    queryKey: ["audit-log", filters],
    queryFn: ({ pageParam }) => callForPage<AuditEntry>("/audit-log", parsed, { query: { ...filters, limit: 50, cursor: pageParam } }),
    initialPageParam: noCursor,
    getNextPageParam: nextPage,
  });
