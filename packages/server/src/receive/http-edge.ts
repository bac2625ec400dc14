/**
 * The HTTP edge of `/e/<key>`: turns a request into an InboundRequest, hands it on, writes the answer.
 *
 * This is the hot path. The route bypasses the framework's parsing and serialising and writes to the socket itself; everything
 * a request does not need is left out.
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import { ERRORS, errorBody, Refusal } from "@inlet/protocol";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Logger } from "pino";
import type { BodyBudget } from "./body-budget.ts";
import { closeLingering } from "./close-lingering.ts";
import type { Accepted, Answer, InboundRequest } from "./inbound-request.ts";
import { ABORTED, overloaded, readBody } from "./read-body.ts";

export interface HttpEdgeParts {
  receive: (request: InboundRequest) => Promise<Answer>;
  budget: BodyBudget;
  log: Logger;
  /** True while the service drains: connections are closed after their answer. */
  isDraining: () => boolean;
}

const METHODS_ALLOWED = "POST, OPTIONS";
const RETRY_AFTER_S = "1";
const SMALL_BODY_BYTES = 64 * 1024;

export function registerHttpEdge(app: FastifyInstance, parts: HttpEdgeParts): void {
  app.register(async (edge) => {
    edge.removeAllContentTypeParsers();
    // The body stays on the socket until the sender is known.
    edge.addContentTypeParser("*", (_request, _body, done) => done(null));
    edge.route<{ Params: { "*": string } }>({
      method: "POST",
      url: "/e/*",
      handler(request, reply) {
        reply.hijack();
        void serve(parts, request, reply.raw);
      },
    });
  });
}

/** Answers every other method on `/e/…`: the preflight of browsers, and 405. */
export function answerOtherMethod(request: IncomingMessage, response: ServerResponse): void {
  if (request.method !== "OPTIONS") {
    const refused = new Refusal("method_not_allowed", `Events are sent with POST, not with ${request.method}.`);
    return writeRefusal(request, response, refused, { allow: METHODS_ALLOWED });
  }
  response.writeHead(204, {
    allow: METHODS_ALLOWED,
    "access-control-allow-origin": "*",
    "access-control-allow-methods": METHODS_ALLOWED,
    "access-control-allow-headers": request.headers["access-control-request-headers"] ?? "*",
    "access-control-max-age": "3600",
  });
  response.end();
}

async function serve(parts: HttpEdgeParts, request: FastifyRequest<{ Params: { "*": string } }>, response: ServerResponse): Promise<void> {
  const incoming = request.raw;
  const share = parts.budget.enter();
  if (!share) return writeRefusal(incoming, response, overloaded());
  try {
    const answer = await parts.receive({
      keyText: request.params["*"],
      headers: incoming.headers,
      get ip() {
        return request.ip;
      },
      readBody: (bytesMax) => readBody(incoming, bytesMax, share),
    });
    if (answer === ABORTED) return;
    if (parts.isDraining()) response.setHeader("connection", "close");
    if (answer instanceof Refusal) writeRefusal(incoming, response, answer);
    else writeAccepted(response, answer);
  } catch (error) {
    parts.log.error({ err: error }, "accepting events failed unexpectedly");
    writeRefusal(incoming, response, new Refusal("internal_error", "The service failed unexpectedly; nothing was stored."));
  } finally {
    share.release();
  }
}

function writeAccepted(response: ServerResponse, { ids }: Accepted): void {
  // Ids need no escaping: they are ULIDs.
  const body = `{"ids":["${ids.join('","')}"],"status":200}`;
  response.writeHead(200, {
    "content-type": "application/json",
    "content-length": body.length,
    "access-control-allow-origin": "*",
  });
  response.end(body);
}

function writeRefusal(request: IncomingMessage, response: ServerResponse, refused: Refusal, headers: Record<string, string> = {}): void {
  const body = Buffer.from(errorBody(refused));
  const unread = !isSmallRest(request);
  response.writeHead(refused.status, {
    "content-type": "application/json",
    "content-length": body.length,
    "access-control-allow-origin": "*",
    ...(ERRORS[refused.code].retry === "retryable" && { "retry-after": RETRY_AFTER_S }),
    ...(unread && { connection: "close" }),
    ...headers,
  });
  response.end(body);
  if (unread) closeLingering(request);
}

/** What is left of a small body costs less to read than a new connection. */
function isSmallRest(request: IncomingMessage): boolean {
  if (request.complete) return true;
  const declared = request.headers["content-length"];
  return declared !== undefined && Number(declared) <= SMALL_BODY_BYTES;
}
