/** REST: how many requests a webhook was sent over time, by outcome. */

import type { FastifyInstance } from "fastify";
import { REQUESTS_COUNTED_MAX, type StoreViews, type WebhookRequestCount } from "../../store/contract/index.ts";
import { readInstant } from "../instant.ts";
import { invalid } from "../rest-errors.ts";
import { closed } from "../rest-schemas.ts";
import { dataOf, INSTANT, INTEGER, listOf, shape } from "../route-facts.ts";
import { findWebhook, type WebhookDirectory } from "./find-webhook.ts";

export interface WebhookStatsRouteParts {
  views: Pick<StoreViews, "webhookRequestCounts">;
  directory: WebhookDirectory;
  now: () => number;
}

const POINTS_MAX = 200;
const DEFAULT_POINTS = 48;
const DEFAULT_SPAN_MS = 86_400_000;

interface StatsQuery {
  from?: string;
  to?: string;
  points: number;
}

const SCHEMA = {
  summary: "Count the requests of a webhook over time",
  description: `By outcome, of the requests that are still recorded. At most ${REQUESTS_COUNTED_MAX} are counted, the newest.`,
  querystring: closed({
    from: { type: "string", description: "Received at or after: ISO 8601 or milliseconds; default: a day before `to`." },
    to: { type: "string", description: "Received before: ISO 8601 or milliseconds; default: now." },
    points: {
      type: "integer",
      minimum: 1,
      maximum: POINTS_MAX,
      default: DEFAULT_POINTS,
      description: "The number of intervals that the time is divided into.",
    },
  }),
  response: {
    200: dataOf(
      shape(
        {
          intervalMs: INTEGER,
          points: {
            ...listOf(
              shape({
                at: { ...INSTANT, description: "When the interval began." },
                outcomes: {
                  type: "object",
                  additionalProperties: INTEGER,
                  description: "By `outcome` of the requests: `accepted`, `handshake`, or the code of an error.",
                },
              }),
            ),
            description: "Oldest first, including empty ones.",
          },
        },
        { title: "WebhookStats" },
      ),
    ),
  },
  errors: ["webhook_not_found"],
} as const;

export function registerWebhookStatsRoute(app: FastifyInstance, { views, directory, now }: WebhookStatsRouteParts): void {
  app.get<{ Params: { id: string }; Querystring: StatsQuery }>(
    "/webhooks/:id/stats",
    { config: { about: "item", ingest: true }, schema: SCHEMA },
    async (request) => {
      const { environmentId, id: webhookId } = findWebhook(directory, request, request.params.id);
      const { query } = request;
      const to = query.to === undefined ? now() + 1 : readInstant("to", query.to);
      const from = query.from === undefined ? to - DEFAULT_SPAN_MS : readInstant("from", query.from);
      if (from >= to) throw invalid("from", "must be before `to`");
      const intervalMs = Math.ceil((to - from) / query.points);
      const counts = await views.webhookRequestCounts({ environmentId, webhookId, from, to, intervalMs });
      return { data: { intervalMs, points: pointsOf(counts, { from, to, intervalMs }) } };
    },
  );
}

function pointsOf(counts: readonly WebhookRequestCount[], { from, to, intervalMs }: { from: number; to: number; intervalMs: number }) {
  const byInterval = Map.groupBy(counts, ({ interval }) => interval);
  return Array.from({ length: Math.ceil((to - from) / intervalMs) }, (_, n) => ({
    at: new Date(from + n * intervalMs).toISOString(),
    outcomes: Object.fromEntries((byInterval.get(n) ?? []).map(({ outcome, count }) => [outcome, count])),
  }));
}
