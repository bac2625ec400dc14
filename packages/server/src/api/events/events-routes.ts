/** REST: reading events. */

import { type EventId, isEventId } from "@inlet/protocol";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { eventView } from "../../observe/event-view.ts";
import type {
  Environment,
  EventCursor,
  EventListParams,
  EventPage,
  EventSource,
  EventStore,
  RunStore,
  StoreViews,
} from "../../store/contract/index.ts";
import { type AccessRules, environmentOf } from "../access/rest-access.ts";
import { hiddenFromSearch } from "../approvals/mask-links.ts";
import { readCursor, writeCursor } from "../cursors.ts";
import type { PageQuery } from "../list-page.ts";
import { invalid, RestRefusal } from "../rest-errors.ts";
import { closed, PAGE_PARAMETERS } from "../rest-schemas.ts";
import { dataOf, pageOf } from "../route-facts.ts";
import type { RunsRoutesParts } from "../runs/runs-routes.ts";
import { EVENT_FILTERS, type EventFilterQuery, eventFilter } from "./event-filters.ts";
import { EVENT } from "./event-schemas.ts";

export interface EventsRoutesParts {
  access: AccessRules;
  store: EventStore & RunStore;
  views: StoreViews;
  sourceName(source: EventSource): string;
  runs: Pick<RunsRoutesParts["runs"], "functionName">;
  /** Null: nothing is archived. */
  archive: EventArchive | null;
}

/** Events that left the store with their partition. */
export interface EventArchive {
  eventList(environment: Environment, params: Pick<EventListParams, "name" | "from" | "to" | "after" | "limit">): Promise<EventPage>;
}

/** More are listed by /events/:id/runs. */
const RUNS_SHOWN_MAX = 100;

type ListQuery = PageQuery & EventFilterQuery & { archived?: boolean };
type ListRequest = { Querystring: ListQuery };
type ById = { Params: { id: string } };

const LIST = {
  summary: "List events, newest first",
  description:
    "Searches by `source` or `q`, and searches in the archive, are limited in time. A page may then be short or empty: continue with `page.next`.",
  querystring: closed({
    ...PAGE_PARAMETERS,
    ...EVENT_FILTERS,
    cursor: { type: "string", description: "`page.next` of the previous page, or the id of an event: the list continues after it." },
    archived: { type: "boolean", description: "`true`: events of the archive (`--archive`), by `name`, `from` and `to` only." },
  }),
  response: { 200: pageOf(EVENT) },
};
const GET = { summary: "Get an event", querystring: closed({}), response: { 200: dataOf(EVENT) }, errors: ["event_not_found"] } as const;
const ARCHIVE_FILTERS: readonly string[] = ["name", "from", "to", "limit"];

export function registerEventsRoutes(app: FastifyInstance, parts: EventsRoutesParts): void {
  const config = { about: "environment", ingest: true } as const;
  app.get<ListRequest>("/events", { config, schema: LIST }, (request, reply) => listEvents(parts, request, reply));
  app.get<ById>("/events/:id", { config, schema: GET }, (request, reply) => getEvent(parts, request, reply));
}

async function listEvents(parts: EventsRoutesParts, request: FastifyRequest<ListRequest>, reply: FastifyReply) {
  const environment = environmentOf(parts.access, request);
  const { cursor, archived, ...query } = request.query;
  const after = cursor === undefined ? {} : { after: await cursorOf(parts, environment, cursor) };
  const { events, next } = archived
    ? await listArchived(parts, environment, { ...query, ...after })
    : await parts.views.eventList({ ...listParams(environment, query), ...after, ...hiddenOf(parts, request) });
  const names = namesIn(parts, environment);
  const items = events.map((event) => eventView(event, names));
  reply.type("application/json");
  return `{"data":[${items.join(",")}],"page":{"next":${next ? `"${writeCursor(next)}"` : "null"}}}`;
}

function hiddenOf({ access }: EventsRoutesParts, request: FastifyRequest<ListRequest>): { hidden?: RegExp } {
  const { q, where } = request.query;
  return q === undefined && where === undefined ? {} : hiddenFromSearch(access, request);
}

async function getEvent(parts: EventsRoutesParts, request: FastifyRequest<ById>, reply: FastifyReply) {
  const environment = environmentOf(parts.access, request);
  const id = request.params.id.toUpperCase();
  const event = isEventId(id) ? await parts.views.eventGet({ environmentId: environment.id, id: id as EventId }) : null;
  if (!event) {
    throw new RestRefusal("event_not_found", `There is no event ${request.params.id} in the environment "${environment.name}".`);
  }
  reply.type("application/json");
  return `{"data":${eventView(event, namesIn(parts, environment), await runsOf(parts, environment, event.id))}}`;
}

function listArchived(
  { archive }: EventsRoutesParts,
  environment: Environment,
  { after, ...query }: Omit<ListQuery, "cursor"> & { after?: EventCursor },
) {
  if (!archive) throw invalid("archived", "needs an archive, and the service runs without --archive");
  const other = Object.keys(query).find((name) => !ARCHIVE_FILTERS.includes(name));
  if (other !== undefined) throw invalid(other, "cannot be used with archived=true: the archive is searched by name, from and to");
  return archive.eventList(environment, { ...listParams(environment, query), ...(after && { after }) });
}

/** A live list goes on below its oldest event, of which it has the id only. */
async function cursorOf({ views }: EventsRoutesParts, { id: environmentId }: Environment, text: string): Promise<EventCursor> {
  if (!isEventId(text)) return readCursor(text);
  const event = await views.eventGet({ environmentId, id: text });
  if (!event) throw invalid("cursor", "names an event that is not stored any more");
  return event;
}

function namesIn({ sourceName }: EventsRoutesParts, environment: Environment) {
  return { environment: environment.name, source: sourceName };
}

async function runsOf(parts: EventsRoutesParts, { id: environmentId }: Environment, eventId: EventId): Promise<object[]> {
  const { runs } = await parts.views.runList({ environmentId, eventId, limit: RUNS_SHOWN_MAX });
  return runs.map(({ id, status, functionNo }) => {
    const { id: functionId, name } = parts.runs.functionName(functionNo);
    return { id, status, function: { id: functionId, name } };
  });
}

function listParams({ id: environmentId }: Environment, { limit, ...query }: Omit<ListQuery, "cursor">): EventListParams {
  return { environmentId, limit, ...eventFilter(query) };
}
