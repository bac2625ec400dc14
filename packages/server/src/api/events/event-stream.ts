/** REST: the live stream of events, as server-sent events in commit order. */

import { nameMatches } from "@inlet/protocol";
import type { FastifyInstance } from "fastify";
import { eventView } from "../../observe/event-view.ts";
import type { Environment } from "../../store/contract/index.ts";
import { environmentOf } from "../access/rest-access.ts";
import { shownTo } from "../approvals/mask-links.ts";
import { readInstant } from "../instant.ts";
import { closed } from "../rest-schemas.ts";
import { type MessageSource, readCursor, STREAM_READ_BYTES, type StoreStreamParts, sendStream } from "../streams/store-stream.ts";
import type { EventsRoutesParts } from "./events-routes.ts";

const READ_EVENTS_MAX = 100;

export type EventStreamParts = Omit<EventsRoutesParts, "archive"> & StoreStreamParts;

interface StreamQuery {
  name?: string;
  after?: string;
  from?: string;
}

const STREAM_PARAMETERS = closed({
  name: { type: "string", minLength: 1, description: "Event name; may end in `*`." },
  after: { type: "string", description: "Resume after this event, like the header Last-Event-ID." },
  from: {
    type: "string",
    description: "Start at this time of receipt (inclusive): ISO 8601 or milliseconds. A cursor takes precedence.",
  },
});

const STREAM_SCHEMA = {
  summary: "Follow events live",
  description: "Server-sent events named `event`, each with an event as its data; the `id` of the last one resumes the stream.",
  querystring: STREAM_PARAMETERS,
  response: {
    200: { description: "A continuous stream.", content: { "text/event-stream": { schema: { type: "string" } } } },
  },
  errors: ["overloaded"],
} as const;

export function registerEventStream(app: FastifyInstance, parts: EventStreamParts): void {
  app.get<{ Querystring: StreamQuery }>(
    "/events/stream",
    { config: { about: "environment", ingest: true }, schema: STREAM_SCHEMA },
    async (request, reply) => {
      const environment = environmentOf(parts.access, request);
      const { name, after, from } = request.query;
      const cursor = readCursor(after ?? request.headers["last-event-id"]);
      const receivedFrom = from === undefined ? null : readInstant("from", from);
      const shown = shownTo(parts.access, request);
      return sendStream(parts, reply, () => eventSource(parts, environment, { name: name ?? null, cursor, receivedFrom, shown }));
    },
  );
}

interface Wanted {
  name: string | null;
  cursor: number | null;
  receivedFrom: number | null;
  /** What the reader may see of a text. */
  shown(text: string): string;
}

async function eventSource(parts: EventStreamParts, environment: Environment, wanted: Wanted): Promise<MessageSource> {
  const { store, views } = parts;
  const names = { environment: environment.name, source: parts.sourceName };
  const { name, cursor, receivedFrom, shown } = wanted;
  const since = () =>
    receivedFrom === null
      ? store.eventSequence({ environmentId: environment.id })
      : store.eventSequenceBefore({ environmentId: environment.id, receivedFrom });
  return {
    // A cursor of another store, as after a restore of an older one, would wait for numbers that are far away.
    from: cursor === null ? await since() : Math.min(cursor, await store.eventSequence({ environmentId: environment.id })),
    async read(after, isLive) {
      const { events, reached } = await (isLive ? store : views).eventFollow({
        environmentId: environment.id,
        after,
        limit: READ_EVENTS_MAX,
        bytesMax: STREAM_READ_BYTES,
      });
      const chosen = events.filter(
        (event) => (name === null || nameMatches(name, event.name)) && (receivedFrom === null || event.receivedAt >= receivedFrom),
      );
      return {
        messages: chosen.map((event) => ({ cursor: event.sequence, event: "event", json: shown(eventView(event, names)) })),
        reached,
      };
    },
  };
}
