/** REST: reading events. */

import { type EventId, isEventId } from "@inlet/protocol";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { eventView } from "../../observe/event-view.ts";
import {
  type Environment,
  type EventCursor,
  type EventListParams,
  type EventPage,
  type EventSource,
  type EventStore,
  type RunStore,
  SOURCE_KINDS,
  type StoreViews,
} from "../../store/contract/index.ts";
import { type AccessRules, environmentOf } from "../access/rest-access.ts";
import { seesTokens, withoutTokens } from "../approvals/mask-links.ts";
import { readCursor, writeCursor } from "../cursors.ts";
import { readInstant } from "../instant.ts";
import { invalid, RestRefusal } from "../rest-errors.ts";
import { closed, PAGE_PARAMETERS } from "../rest-schemas.ts";
import { BOOLEAN, dataOf, INSTANT, INTEGER, listOf, pageOf, shape, TEXT } from "../route-facts.ts";
import type { RunsRoutesParts } from "../runs/runs-routes.ts";
import { readWhere, WHERE } from "../where.ts";

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

export interface EventFilterQuery {
  name?: string;
  from?: string;
  to?: string;
  id?: string;
  source?: string;
  q?: string;
  internal?: boolean;
  matched?: boolean;
  where?: string;
}

interface ListQuery extends EventFilterQuery {
  limit: number;
  cursor?: string;
  archived?: boolean;
}

/** The filters of events: in the list, and in jobs. */
export const EVENT_FILTERS = {
  name: { type: "string", minLength: 1, description: "Event name; may end in `*`." },
  from: { type: "string", description: "Received at or after: ISO 8601 or milliseconds." },
  to: { type: "string", description: "Received before: ISO 8601 or milliseconds." },
  id: { type: "string", minLength: 1, description: "The sender's id, used for deduplication." },
  source: { type: "string", minLength: 1, description: "A kind of source (key, webhook, function, internal) or the id of one." },
  q: { type: "string", minLength: 1, description: "Text in the payload; ignores case." },
  internal: { type: "boolean", description: "`false` excludes events that the service itself created." },
  matched: { type: "boolean", description: "`false`: events that neither started nor resumed a run." },
  where: WHERE,
} as const;
const LIST_PARAMETERS = closed({
  ...PAGE_PARAMETERS,
  ...EVENT_FILTERS,
  cursor: { type: "string", description: "`page.next` of the previous page, or the id of an event: the list continues after it." },
  archived: { type: "boolean", description: "`true`: events of the archive (`--archive`), by `name`, `from` and `to` only." },
});
const ARCHIVE_FILTERS: readonly string[] = ["name", "from", "to", "limit"];

export const EVENT = {
  ...shape(
    {
      id: { type: "string", description: "The ULID assigned by the service." },
      name: TEXT,
      data: { type: "object", additionalProperties: true, description: "As it was sent." },
      ts: { type: "integer", description: "Milliseconds: the sender's time, or the time of receipt if the sender set none." },
      receivedAt: INSTANT,
      environment: TEXT,
      source: shape(
        {
          kind: { type: "string", enum: SOURCE_KINDS },
          id: TEXT,
          name: TEXT,
          mirrored: { ...BOOLEAN, description: "True for a copy that the webhook of another environment mirrored here." },
          run: { ...TEXT, description: "The id of the run that sent it, or whose step or end caused it." },
        },
        { optional: ["mirrored", "run"] },
      ),
      duplicates: { ...INTEGER, description: "How many later events were ignored as duplicates of this one." },
      reconciled: { type: "boolean", description: "True: it did not arrive in a request. Reconciliation found it in the provider's list." },
      dedupId: { type: "string", description: "The sender's id, used for deduplication." },
      schema: {
        ...shape({ valid: BOOLEAN, errors: listOf({ type: "object", additionalProperties: true }) }),
        description: "How it breaks the schema declared for its name; absent if it does not, or is not checked.",
      },
    },
    { optional: ["reconciled", "dedupId", "schema"], title: "Event" },
  ),
  description: "All other fields that the sender set, such as `v` and `user`, are included.",
  additionalProperties: true,
};

export function registerEventsRoutes(app: FastifyInstance, parts: EventsRoutesParts): void {
  const view = (environment: Environment) => ({ environment: environment.name, source: parts.sourceName });

  const list = {
    summary: "List events, newest first",
    description:
      "Searches by `source` or `q`, and searches in the archive, are limited in time. A page may then be short or empty: continue with `page.next`.",
    querystring: LIST_PARAMETERS,
    response: { 200: pageOf(EVENT) },
  };
  app.get<{ Querystring: ListQuery }>(
    "/events",
    { config: { about: "environment", ingest: true }, schema: list },
    async (request, reply) => {
      const environment = environmentOf(parts.access, request);
      const { cursor, archived, ...query } = request.query;
      const after = cursor === undefined ? {} : { after: await cursorOf(environment, cursor) };
      const { events, next } = archived
        ? await listArchived(environment, { ...query, ...after })
        : await parts.views.eventList({ ...listParams(environment, query), ...after });
      const names = view(environment);
      const found = events.map((event) => eventView(event, names));
      // A search must not find out what is hidden from the reader.
      const isHidden = query.q !== undefined || query.where !== undefined ? !seesTokens(parts.access, request) : false;
      const items = isHidden ? found.filter((text) => withoutTokens(text) === text) : found;
      reply.type("application/json");
      return `{"data":[${items.join(",")}],"page":{"next":${next ? `"${writeCursor(next)}"` : "null"}}}`;
    },
  );

  const get = { summary: "Get an event", querystring: closed({}), response: { 200: dataOf(EVENT) }, errors: ["event_not_found"] } as const;
  app.get(
    "/events/:id",
    { config: { about: "environment", ingest: true }, schema: get },
    async (request: FastifyRequest<{ Params: { id: string } }>, reply) => {
      const environment = environmentOf(parts.access, request);
      const id = request.params.id.toUpperCase();
      const event = isEventId(id) ? await parts.views.eventGet({ environmentId: environment.id, id: id as EventId }) : null;
      if (!event) {
        throw new RestRefusal("event_not_found", `There is no event ${request.params.id} in the environment "${environment.name}".`);
      }
      reply.type("application/json");
      return `{"data":${eventView(event, view(environment), await runsOf(environment, event.id))}}`;
    },
  );

  function listArchived(environment: Environment, { after, ...query }: Omit<ListQuery, "cursor"> & { after?: EventCursor }) {
    if (!parts.archive) throw invalid("archived", "needs an archive, and the service runs without --archive");
    const other = Object.keys(query).find((name) => !ARCHIVE_FILTERS.includes(name));
    if (other !== undefined) throw invalid(other, "cannot be used with archived=true: the archive is searched by name, from and to");
    return parts.archive.eventList(environment, { ...listParams(environment, query), ...(after && { after }) });
  }

  /** A live list goes on below its oldest event, of which it has the id only. */
  async function cursorOf({ id: environmentId }: Environment, text: string): Promise<EventCursor> {
    if (!isEventId(text)) return readCursor(text);
    const event = await parts.views.eventGet({ environmentId, id: text });
    if (!event) throw invalid("cursor", "is the id of an event that is not stored");
    return event;
  }

  async function runsOf({ id: environmentId }: Environment, eventId: EventId): Promise<object[]> {
    const { runs } = await parts.views.runList({ environmentId, eventId, limit: RUNS_SHOWN_MAX });
    return runs.map(({ id, status, functionNo }) => {
      const { id: functionId, name } = parts.runs.functionName(functionNo);
      return { id, status, function: { id: functionId, name } };
    });
  }
}

function listParams({ id: environmentId }: Environment, { limit, ...query }: Omit<ListQuery, "cursor">): EventListParams {
  return { environmentId, limit, ...eventFilter(query) };
}

export function eventFilter(query: EventFilterQuery): Omit<EventListParams, "environmentId" | "limit" | "after"> {
  return {
    ...(query.from !== undefined && { from: readInstant("from", query.from) }),
    ...(query.to !== undefined && { to: readInstant("to", query.to) }),
    ...(query.name !== undefined && { name: query.name }),
    ...(query.id !== undefined && { dedupId: query.id }),
    ...(query.source !== undefined && { source: query.source }),
    ...(query.q !== undefined && { text: query.q }),
    ...(query.internal !== undefined && { internal: query.internal }),
    ...(query.matched !== undefined && { matched: query.matched }),
    ...(query.where !== undefined && { where: readWhere(query.where) }),
  };
}
