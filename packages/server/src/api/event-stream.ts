/**
 * REST: the live tail, as server-sent events.
 *
 * The stream is driven by the store, not by memory: each wake-up reads what was committed since the last event sent. So nothing
 * is missed or sent twice, a slow reader costs no memory, and `Last-Event-ID` resumes exactly, also after a restart.
 */

import type { ServerResponse } from "node:http";
import { nameMatches, Refusal } from "@inlet/protocol";
import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import { eventView } from "../observe/event-view.ts";
import type { Environment, StoredEvent } from "../store/contract/index.ts";
import type { EventsRoutesParts } from "./events-routes.ts";
import { environmentOf } from "./rest-access.ts";
import { invalid, sendRefusal } from "./rest-errors.ts";
import { closed } from "./rest-schemas.ts";
import { type Alarm, drained, openStream } from "./server-sent.ts";

const READ_EVENTS_MAX = 100;
const STREAMS_MAX = 500;

export interface EventStreamParts extends EventsRoutesParts {
  /** Aborted when the service drains. */
  drained: AbortSignal;
  log: Logger;
}

interface StreamQuery {
  name?: string;
  after?: string;
}

const STREAM_PARAMETERS = closed({
  name: { type: "string", minLength: 1, description: "Event name; may end in `*`." },
  after: { type: "string", description: "Go on after this event of an earlier stream, as the header Last-Event-ID does." },
});

const STREAM_SCHEMA = {
  summary: "Follow events live",
  description: "Server-sent events named `event`, each with an event as its data; the `id` of the last one resumes the stream.",
  querystring: STREAM_PARAMETERS,
  response: {
    200: { description: "A stream that does not end by itself.", content: { "text/event-stream": { schema: { type: "string" } } } },
  },
  errors: ["overloaded"],
} as const;

export function registerEventStream(app: FastifyInstance, parts: EventStreamParts): void {
  let streams = 0;
  app.get<{ Querystring: StreamQuery }>("/events/stream", { config: { ingest: true }, schema: STREAM_SCHEMA }, async (request, reply) => {
    const environment = environmentOf(parts.access, request);
    const { name, after } = request.query;
    const last = readPlace(after ?? request.headers["last-event-id"]);
    if (streams >= STREAMS_MAX) return sendRefusal(reply, new Refusal("overloaded", `${STREAMS_MAX} streams are open already.`));
    const from = last ?? (await parts.store.eventSequence());
    reply.hijack();
    streams++;
    try {
      await stream(parts, environment, reply.raw, from, (event) => name === undefined || nameMatches(name, event.name));
    } catch (error) {
      parts.log.warn({ err: error }, "a live tail ended early");
    } finally {
      streams--;
      reply.raw.end();
    }
  });
}

async function stream(
  parts: EventStreamParts,
  environment: Environment,
  response: ServerResponse,
  from: number,
  wanted: (event: StoredEvent) => boolean,
): Promise<void> {
  const names = { environment: environment.name, source: parts.sourceName };
  const follow = async (alarm: Alarm, ended: () => boolean) => {
    for (let reached = from; !ended(); ) {
      const read = await parts.store.eventFollow({ environmentId: environment.id, after: reached, limit: READ_EVENTS_MAX });
      const sent = read.events.filter(wanted).map((event) => message(event.sequence, eventView(event, names)));
      if (sent.length > 0 && !response.write(sent.join(""))) await drained(response);
      if (read.reached === reached) await alarm.rung();
      reached = read.reached;
    }
  };
  await openStream(response, { stopped: parts.drained, watch: (ring) => parts.store.eventWatch(ring), follow });
}

/** A payload may hold line breaks between its tokens, which would end a `data:` line. */
function message(sequence: number, json: string): string {
  return `id: ${sequence}\nevent: event\ndata: ${json.replace(/\r\n?|\n/g, "\ndata: ")}\n\n`;
}

function readPlace(given: string | string[] | undefined): number | null {
  if (given === undefined) return null;
  if (typeof given !== "string" || !/^\d{1,15}$/.test(given)) throw invalid("after", "is not the id of an event of a stream");
  return Number(given);
}
