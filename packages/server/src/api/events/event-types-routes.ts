/** REST: the catalogue of event types. */

import { type EnvironmentId, HOUR_MS } from "@inlet/protocol";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { iso } from "../../observe/run-view.ts";
import {
  databaseOf,
  type Environment,
  type EventSchemaStore,
  type EventType,
  type EventTypeSettings,
  type EventTypeStore,
  type Store,
  type StoreViews,
} from "../../store/contract/index.ts";
import { type AccessRules, environmentOf } from "../access/rest-access.ts";
import { wrongCursor } from "../cursors.ts";
import type { PageQuery } from "../list-page.ts";
import { RestRefusal } from "../rest-errors.ts";
import { closed, PAGE_PARAMETERS } from "../rest-schemas.ts";
import { RETENTION, writeRetention } from "../retention-fields.ts";
import { dataOf, INSTANT, INSTANT_OR_NULL, INTEGER, listOf, pageOf, shape, TEXT } from "../route-facts.ts";
import { DECLARED_FIELDS, type DeclaredParts, declaredView } from "./declared-view.ts";

export interface EventTypesRoutesParts extends DeclaredParts {
  access: AccessRules;
  store: EventTypeStore & EventSchemaStore & Pick<Store, "storeDatabases" | "storeDatabaseOf">;
  views: StoreViews;
  eventTypeCounter: { catchUp(): Promise<void> };
  /** The functions that an event of this name starts. */
  subscribersOf(environmentId: EnvironmentId, name: string): { id: string; name: string }[];
  now: () => number;
}

type ListRequest = { Querystring: PageQuery };
type ByName = { Params: { name: string } };

const LIST_HOURS = 24;
const ONE_HOURS = 7 * 24;

const FIGURES = {
  name: TEXT,
  firstSeenAt: { ...INSTANT_OR_NULL, description: "Null: it is declared, but no event has been accepted." },
  lastSeenAt: INSTANT_OR_NULL,
  count24h: { ...INTEGER, description: "Events of the last 24 hours, the first of these hours counted whole." },
  count: { ...INTEGER, description: "Events since the beginning." },
  functions: listOf(shape({ id: TEXT, name: TEXT })),
} as const;

const EVENT_TYPE = shape(
  {
    ...FIGURES,
    hours: { ...listOf(INTEGER), description: "Events of each of the last 25 hours, oldest first; the last one is the current hour." },
  },
  { title: "EventType" },
);

const EVENT_TYPE_DETAILS = shape(
  {
    ...FIGURES,
    retention: RETENTION,
    ...DECLARED_FIELDS,
    volume: {
      ...listOf(shape({ at: INSTANT, count: INTEGER })),
      description: "Events of each hour of the last 7 days, oldest first, including empty hours.",
    },
  },
  { title: "EventTypeDetails" },
);

const LIST = {
  summary: "List event types, the newest name first",
  description:
    "Every name that was accepted in the environment, how often, and the functions it starts. Names that are declared and were never accepted come first.",
  querystring: closed(PAGE_PARAMETERS),
  response: { 200: pageOf(EVENT_TYPE) },
};
const GET = {
  summary: "Get an event type, with its volume over a week",
  querystring: closed({}),
  response: { 200: dataOf(EVENT_TYPE_DETAILS) },
  errors: ["event_type_not_found"],
} as const;

export function registerEventTypesRoutes(app: FastifyInstance, parts: EventTypesRoutesParts): void {
  const config = { about: "environment", ingest: true } as const;
  app.get<ListRequest>("/event-types", { config, schema: LIST }, (request) => listEventTypes(parts, request));
  app.get<ByName>("/event-types/:name", { config, schema: GET }, (request) => getEventType(parts, request));
}

async function listEventTypes(parts: EventTypesRoutesParts, request: FastifyRequest<ListRequest>) {
  const environmentId = environmentOf(parts.access, request).id;
  await parts.eventTypeCounter.catchUp();
  const { unseen, types, next } = await listTypes(parts, environmentId, request.query);
  const at = parts.now();
  const hours = (type: EventType) => everyHour(type, at, LIST_HOURS).map(({ count }) => count);
  const unseenView = (name: string) => ({
    ...unseenFigures(parts.subscribersOf(environmentId, name), name),
    hours: hours(noneOf(name)),
  });
  const view = (type: EventType) => ({ ...figures(parts, environmentId, type, at), hours: hours(type) });
  return { data: [...unseen.map(unseenView), ...types.map(view)], page: { next } };
}

async function getEventType(parts: EventTypesRoutesParts, request: FastifyRequest<ByName>) {
  const environment = environmentOf(parts.access, request);
  const { name } = request.params;
  await parts.eventTypeCounter.catchUp();
  const at = parts.now();
  const type = await parts.views.eventTypeGet({ environmentId: environment.id, name, since: at - ONE_HOURS * HOUR_MS });
  const { isDeclared, fields } = await declaredView(parts, environment.id, name);
  const retention = await retentionOf(parts, environment, name);
  if (!type && (isDeclared || retention !== null)) {
    return { data: { ...unseen(parts.subscribersOf(environment.id, name), name, at), ...fields, retention } };
  }
  if (!type) throw new RestRefusal("event_type_not_found", `No event "${name}" was accepted in the environment "${environment.name}".`);
  const volume = everyHour(type, at, ONE_HOURS).map((hour) => ({ at: iso(hour.at), count: hour.count }));
  return { data: { ...figures(parts, environment.id, type, at), volume, ...fields, retention } };
}

function figures({ subscribersOf }: EventTypesRoutesParts, environmentId: EnvironmentId, type: EventType, at: number) {
  return {
    name: type.name,
    firstSeenAt: iso(type.firstSeenAt),
    lastSeenAt: iso(type.lastSeenAt),
    count: type.count,
    count24h: everyHour(type, at, LIST_HOURS).reduce((sum, { count }) => sum + count, 0),
    functions: subscribersOf(environmentId, type.name),
  };
}

async function retentionOf({ catalogue, store }: EventTypesRoutesParts, { id }: Environment, name: string): Promise<string | null> {
  const scope = catalogue.scopeOf(id);
  const isWanted = (settings: EventTypeSettings) => settings.environmentId === scope && settings.name === name;
  return writeRetention((await databaseOf(store, scope).store.eventTypeSettingsList()).find(isWanted)?.retentionMs ?? null);
}

interface ListedTypes {
  unseen: string[];
  types: EventType[];
  next: string | null;
}

/** A page of names without events, of names with events, or the end of the first and the beginning of the second. */
async function listTypes(
  { views, catalogue, now }: EventTypesRoutesParts,
  environmentId: EnvironmentId,
  { limit, cursor }: { limit: number; cursor?: string },
): Promise<ListedTypes> {
  const { afterUnseen, afterSeen } = cursor === undefined ? { afterUnseen: "" } : readCursor(cursor);
  const scopeId = catalogue.scopeOf(environmentId);
  const found =
    afterUnseen === undefined ? [] : await views.eventTypeUnseenList({ environmentId, scopeId, limit: limit + 1, after: afterUnseen });
  const unseen = found.slice(0, limit);
  const after = afterSeen === undefined ? {} : { after: afterSeen };
  const left = limit - unseen.length;
  const seen = await views.eventTypeList({ environmentId, limit: Math.max(1, left), since: now() - LIST_HOURS * HOUR_MS, ...after });
  if (left > 0) return { unseen, types: seen.types, next: seen.next === null ? null : seen.next.toString(36) };
  const isLast = found.length <= limit && seen.types.length === 0;
  return { unseen, types: [], next: isLast ? null : unseenCursor(unseen.at(-1) ?? "") };
}

/** For a declared type of which no event has been accepted. */
function unseen(functions: { id: string; name: string }[], name: string, at: number) {
  const volume = everyHour(noneOf(name), at, ONE_HOURS).map((hour) => ({ at: iso(hour.at), count: 0 }));
  return { ...unseenFigures(functions, name), volume };
}

function unseenFigures(functions: { id: string; name: string }[], name: string) {
  return { name, firstSeenAt: null, lastSeenAt: null, count24h: 0, count: 0, functions };
}

function noneOf(name: string): EventType {
  return { name, firstSeenAt: 0, lastSeenAt: 0, count: 0, countSince: 0, hours: [] };
}

/** One for the current hour and each hour before it, oldest first. */
function everyHour({ hours }: EventType, now: number, before: number): { at: number; count: number }[] {
  const counts = new Map(hours.map(({ at, count }) => [at, count]));
  const current = now - (now % HOUR_MS);
  return Array.from({ length: before + 1 }, (_, n) => {
    const at = current - (before - n) * HOUR_MS;
    return { at, count: counts.get(at) ?? 0 };
  });
}

/** `~` and a name in base64url: after a name without events. Otherwise the number of a name with events, in base 36. */
function readCursor(text: string): { afterUnseen?: string; afterSeen?: number } {
  if (/^~[A-Za-z0-9_-]*$/.test(text)) return { afterUnseen: Buffer.from(text.slice(1), "base64url").toString("utf16le") };
  if (!/^[0-9a-z]{1,10}$/.test(text)) throw wrongCursor();
  return { afterSeen: Number.parseInt(text, 36) };
}

function unseenCursor(name: string): string {
  return `~${Buffer.from(name, "utf16le").toString("base64url")}`;
}
