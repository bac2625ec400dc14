/**
 * Realtime: messages from functions to subscribers, for example in a browser. `token` and `publish` require a signing
 * key, `sse` and `connect` (web-sockets.ts) require a token. Messages are kept for a time: a subscriber that comes back gets what it missed.
 */

import { isEventId, type KeyId } from "@inlet/protocol";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Logger } from "pino";
import { principalOf } from "../access/principal.ts";
import { requestEnvironment } from "../access/request-environment.ts";
import { invalid, sendRefusal } from "../rest-errors.ts";
import { acceptSdks, type SdkRoutesParts } from "../sdk/sdk-routes.ts";
import { type PublishParts, type PublishTarget, publish, publishStream } from "./publish-messages.ts";
import { readAfter } from "./read-after.ts";
import { readTopics, TOPIC_UNITS_MAX } from "./read-topics.ts";
import { followAsStream } from "./server-sent.ts";
import { Subscribers, type SubscribersParts } from "./subscribers.ts";
import { type RealtimeTokens, tokenInvalid } from "./tokens.ts";
import { serveWebSockets } from "./web-sockets.ts";

export interface RealtimeParts extends PublishParts, Pick<SdkRoutesParts, "isDev" | "defaultEnvironment" | "attempts"> {
  directory: SdkRoutesParts["directory"] & { onRefresh(listener: () => void): void };
  views: SubscribersParts["views"];
  tokens: RealtimeTokens;
  /** How long messages are kept. */
  retentionMs: number;
  /** Aborted when the service drains. */
  drained: AbortSignal;
  /** Of server-sent events; absent: the usual. */
  heartbeatMs?: number | undefined;
  log: Logger;
}

const MESSAGE_BYTES_MAX = 512 * 1024;
const TOKEN_BODY_BYTES_MAX = 64 * 1024;

export function registerRealtimeRoutes(app: FastifyInstance, parts: RealtimeParts): void {
  const { directory, isDev } = parts;
  const subscribers = new Subscribers({ ...parts, isWorkingKey: (id) => directory.workingKey(id) !== null });
  directory.onRefresh(() => subscribers.cutRevoked());
  parts.drained.addEventListener("abort", () => subscribers.cutAll());
  serveWebSockets(app.server, { ...parts, subscribers });

  app.register(async (routes) => {
    acceptSdks(routes, parts);
    routes.addContentTypeParser("text/stream", (_request, payload, done) => done(null, payload));

    routes.post("/v1/realtime/token", { bodyLimit: TOKEN_BODY_BYTES_MAX }, async (request, reply) => {
      const { id: environmentId } = requestEnvironment(parts, request);
      reply.code(201);
      const keyId = isDev ? null : (principalOf(request).keyId as KeyId);
      return { jwt: parts.tokens.issue({ environmentId, topics: readTopics(request.body as string), keyId }) };
    });

    routes.post("/v1/realtime/publish", { bodyLimit: MESSAGE_BYTES_MAX }, async (request) => {
      const target = targetOf(parts, request);
      if (typeof request.body === "string" || request.body === undefined) await publish(parts, target, asJson(request.body ?? ""));
      else await publishStream(parts, target, request.body as AsyncIterable<Buffer>);
      return { status: 200 };
    });
  });

  app.get<{ Querystring: { token?: string | string[]; after?: string | string[] } }>("/v1/realtime/sse", async (request, reply) => {
    const bearer = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? "")?.[1];
    const [token = ""] = [bearer ?? request.query.token ?? []].flat();
    const claims = parts.tokens.read(token);
    if (!claims) return sendRefusal(reply, tokenInvalid());
    const after = readAfter(request.headers["last-event-id"] ?? request.query.after);
    return followAsStream(reply, subscribers, { claims, after, heartbeatMs: parts.heartbeatMs });
  });
}

/** Text that is not JSON is published as a string. */
function asJson(body: string): string {
  try {
    JSON.parse(body);
    return body.trim();
  } catch {
    return JSON.stringify(body);
  }
}

function targetOf(parts: RealtimeParts, request: FastifyRequest): PublishTarget {
  const query = request.query as Readonly<Record<string, string | string[] | undefined>>;
  const [channel = ""] = [query.channel ?? ""].flat();
  const topics = [query.topic ?? []].flat();
  const [runId = null] = [query.run_id ?? []].flat();
  if (channel === "" || channel.length > TOPIC_UNITS_MAX) throw invalid("channel", `must have 1 to ${TOPIC_UNITS_MAX} characters`);
  if (topics.length === 0 || topics.length > 10 || topics.some((topic) => topic === "" || topic.length > TOPIC_UNITS_MAX))
    throw invalid("topic", `must be given, at most 10 times, each with 1 to ${TOPIC_UNITS_MAX} characters`);
  if (runId !== null && !isEventId(runId)) throw invalid("run_id", "is not the id of a run");
  return { environment: requestEnvironment(parts, request), channel, topics, runId };
}
