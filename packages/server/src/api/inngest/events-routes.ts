/** Inngest's REST API: events. */

import { type EventId, jsonMembers, stableUuid } from "@inlet/protocol";
import type { FastifyInstance, FastifyRequest } from "fastify";
import {
  type Environment,
  type EventCursor,
  type EventListParams,
  readReconciled,
  type StoredEvent,
  type StoreViews,
} from "../../store/contract/index.ts";
import { RestRefusal } from "../rest-errors.ts";
import { FOR_PEER } from "./peer-requests.ts";
import { type Query, queryInstant, queryText, readEventId, readLimit } from "./read-requests.ts";
import { ACCOUNT_ID, environmentUuid, sendData } from "./responses.ts";

export interface PeerEventsParts {
  views: StoreViews;
  environmentOf(request: FastifyRequest): Environment;
  now(): number;
}

/** Without `received_after`, events of the last hour are listed. */
const LISTED_MS = 3_600_000;
/** Internal events are listed only if their name is requested. */
const INTERNAL_NAME = /^(?:inngest|inlet)\//i;
/** The maximum number of reads to fill a page; after them it may be short. */
const READS_MAX = 20;
/** A page of this size ends, and the next one continues. */
const PAGE_UNITS_MAX = 4 * 1024 * 1024;

export function registerPeerEvents(app: FastifyInstance, { views, environmentOf, now }: PeerEventsParts): void {
  app.get<{ Querystring: Query }>("/v1/events", { constraints: FOR_PEER }, async (request, reply) => {
    const environment = environmentOf(request);
    const { query } = request;
    const to = queryInstant(query, "received_before");
    const name = queryText(query, "name");
    const events = await listEvents(views, readLimit(query), {
      environmentId: environment.id,
      from: queryInstant(query, "received_after") ?? now() - LISTED_MS,
      ...(to !== null && { to }),
      ...(name !== null && { name }),
      ...(await after(views, environment, queryText(query, "cursor"))),
    });
    return sendData(reply, now(), `[${events.map(eventText).join(",")}]`);
  });

  app.get<{ Params: { id: string } }>("/v1/events/:id", { constraints: FOR_PEER }, async (request, reply) => {
    const event = await findEvent(views, environmentOf(request), readEventId(request.params.id));
    return sendData(reply, now(), eventText(event));
  });
}

export async function findEvent(views: StoreViews, { id: environmentId }: Environment, id: EventId): Promise<StoredEvent> {
  const event = await views.eventGet({ environmentId, id });
  if (!event) throw new RestRefusal("event_not_found", "Event not found");
  return event;
}

async function listEvents(views: StoreViews, limit: number, params: Omit<EventListParams, "limit">): Promise<StoredEvent[]> {
  const events: StoredEvent[] = [];
  let next: EventCursor | null = params.after ?? null;
  for (let reads = 0; reads < READS_MAX; reads++) {
    const page = await views.eventList({ ...params, limit: limit - events.length, ...(next !== null && { after: next }) });
    events.push(...page.events.filter((event) => params.name !== undefined || !INTERNAL_NAME.test(event.name)));
    next = page.next;
    if (next === null || events.length >= limit || events.reduce((sum, { data }) => sum + data.length, 0) > PAGE_UNITS_MAX) break;
  }
  return events;
}

/** The cursor is the id of the last event of the previous page. */
async function after(views: StoreViews, environment: Environment, cursor: string | null): Promise<{ after?: EventCursor }> {
  if (cursor === null) return {};
  const { receivedAt, sequence } = await findEvent(views, environment, readEventId(cursor));
  return { after: { receivedAt, sequence } };
}

/** JSON text: `data`, `user` and `v` as sent. */
function eventText(event: StoredEvent): string {
  const receivedAt = new Date(event.receivedAt).toISOString();
  const [environmentId, sourceId] = [environmentUuid(event.environmentId), stableUuid(readReconciled(event.source).source.id)];
  const own = {
    internal_id: event.id,
    account_id: ACCOUNT_ID,
    accountID: ACCOUNT_ID,
    environment_id: environmentId,
    environmentID: environmentId,
    source: event.source.kind,
    source_id: sourceId,
    sourceID: sourceId,
    received_at: receivedAt,
    receivedAt,
    id: event.dedupId ?? event.id,
    name: event.name,
    ts: event.ts,
  };
  const sent = sentFields(event).map(([key, text]) => `,${JSON.stringify(key)}:${text}`);
  return `${JSON.stringify(own).slice(0, -1)},"data":${event.data}${sent.join("")}}`;
}

function sentFields({ extras }: StoredEvent): [string, string][] {
  if (extras === null) return [];
  return jsonMembers(extras)
    .filter(({ key }) => key === "user" || key === "v")
    .map(({ key, start, end }) => [key, extras.slice(start, end)]);
}
