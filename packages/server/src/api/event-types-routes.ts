/** REST: the catalogue of event types. */

import type { EnvironmentId } from "@inlet/protocol";
import type { FastifyInstance } from "fastify";
import type { EventType, EventTypeStore } from "../store/contract/index.ts";
import { type AccessRules, environmentOf } from "./rest-access.ts";
import { invalid } from "./rest-errors.ts";
import { closed, PAGE_PARAMETERS } from "./rest-schemas.ts";
import { INSTANT, INTEGER, listOf, pageOf, shape, TEXT } from "./route-facts.ts";

export interface EventTypesRoutesParts {
  access: AccessRules;
  store: EventTypeStore;
  eventTypeCounter: { catchUp(): Promise<void> };
  /** The functions an event of this name starts. */
  subscribersOf(environmentId: EnvironmentId, name: string): { id: string; name: string }[];
  now: () => number;
}

const DAY_MS = 86_400_000;

const EVENT_TYPE = shape(
  {
    name: TEXT,
    firstSeenAt: INSTANT,
    lastSeenAt: INSTANT,
    count24h: { ...INTEGER, description: "Events of the last 24 hours, the first of these hours counted whole." },
    count: { ...INTEGER, description: "Events since the beginning." },
    functions: listOf(shape({ id: TEXT, name: TEXT })),
  },
  { title: "EventType" },
);

export function registerEventTypesRoutes(app: FastifyInstance, parts: EventTypesRoutesParts): void {
  const { store, now } = parts;
  const list = {
    summary: "List event types, the newest name first",
    description: "Every name that was accepted in the environment, how often, and the functions it starts.",
    querystring: closed(PAGE_PARAMETERS),
    response: { 200: pageOf(EVENT_TYPE) },
  };
  app.get<{ Querystring: { limit: number; cursor?: string } }>(
    "/event-types",
    { config: { ingest: true }, schema: list },
    async (request) => {
      const environmentId = environmentOf(parts.access, request).id;
      const { limit, cursor } = request.query;
      await parts.eventTypeCounter.catchUp();
      const after = cursor === undefined ? {} : { after: readCursor(cursor) };
      const { types, next } = await store.eventTypeList({ environmentId, limit, since: now() - DAY_MS, ...after });
      const view = (type: EventType) => ({ ...figures(type), functions: parts.subscribersOf(environmentId, type.name) });
      return { data: types.map(view), page: { next: next === null ? null : next.toString(36) } };
    },
  );
}

function readCursor(text: string): number {
  if (!/^[0-9a-z]{1,10}$/.test(text)) throw invalid("cursor", "is not one this service gave out");
  return Number.parseInt(text, 36);
}

function figures({ name, firstSeenAt, lastSeenAt, count, countSince }: EventType) {
  const [first, last] = [firstSeenAt, lastSeenAt].map((instant) => new Date(instant).toISOString());
  return { name, firstSeenAt: first, lastSeenAt: last, count24h: countSince, count };
}
