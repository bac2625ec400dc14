/** REST: the usual rhythm of a webhook or an event type, from which rules of kind `silence` conclude that something stopped. */

import type { FastifyInstance } from "fastify";
import type { ActivitySubject } from "../../store/contract/index.ts";
import { type AccessRules, environmentOf } from "../access/rest-access.ts";
import { closed } from "../rest-schemas.ts";
import { dataOf, INSTANT, INSTANT_OR_NULL, listOf, shape } from "../route-facts.ts";
import { findWebhook, type WebhookDirectory } from "../webhooks/find-webhook.ts";

/** See alerts/rhythm.ts. */
interface ShownRhythm {
  week: readonly number[];
  longestGapMs: number;
  since: number;
}

export interface RhythmRoutesParts {
  access: AccessRules;
  directory: WebhookDirectory;
  silences: { rhythm(subject: ActivitySubject): Promise<{ rhythm: { shown(): ShownRhythm } | null; knownFrom: number }> };
}

const RHYTHM = shape(
  {
    knownFrom: { ...INSTANT, description: "When the rhythm is known: two weeks after the first activity." },
    week: {
      ...listOf({ type: "number" }),
      type: ["array", "null"],
      description: "For each hour of the week (UTC), from Monday 00:00 on: how much of it was active, from 0 to 1. Null: not known yet.",
    },
    longestGapSeconds: { type: ["integer", "null"], description: "The longest time without activity in these weeks." },
    since: { ...INSTANT_OR_NULL, description: "When the oldest activity that counts began; at most eight weeks ago." },
  },
  { title: "Rhythm" },
);
const SCHEMA = { querystring: closed({}), response: { 200: dataOf(RHYTHM) } } as const;

export function registerRhythmRoutes(app: FastifyInstance, { access, directory, silences }: RhythmRoutesParts): void {
  const view = async (subject: ActivitySubject) => {
    const { rhythm, knownFrom } = await silences.rhythm(subject);
    return { data: { knownFrom: new Date(knownFrom).toISOString(), ...shownFields(rhythm?.shown() ?? null) } };
  };
  app.get<{ Params: { id: string } }>(
    "/webhooks/:id/rhythm",
    {
      config: { about: "item", ingest: true },
      schema: { ...SCHEMA, summary: "Get the usual rhythm of a webhook's accepted requests", errors: ["webhook_not_found"] },
    },
    async (request) => {
      const { environmentId, id } = findWebhook(directory, request, request.params.id);
      return view({ environmentId, kind: "webhook", subject: id });
    },
  );
  app.get<{ Params: { name: string } }>(
    "/event-types/:name/rhythm",
    {
      config: { about: "environment", ingest: true },
      schema: {
        ...SCHEMA,
        summary: "Get the usual rhythm of an event type",
        description: "If the name ends in `*`, it is the rhythm of all names with that beginning.",
      },
    },
    async (request) => view({ environmentId: environmentOf(access, request).id, kind: "event", subject: request.params.name }),
  );
}

function shownFields(rhythm: ShownRhythm | null) {
  if (rhythm === null) return { week: null, longestGapSeconds: null, since: null };
  const { week, longestGapMs, since } = rhythm;
  return { week, longestGapSeconds: Math.round(longestGapMs / 1_000), since: new Date(since).toISOString() };
}
