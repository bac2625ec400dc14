/**
 * The HTTP edge of `/e/<key>`: converts a request of Node's HTTP server to an InboundRequest, passes it on, and writes the response.
 * Requests come directly from that server, without the framework that serves the REST API.
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { Refusal } from "@inlet/protocol";
import type { BodyBudget, BodyShare } from "./bodies/body-budget.ts";
import { type Body, overloaded, readBody } from "./bodies/read-body.ts";
import type { ClientIp } from "./connections/client-ip.ts";
import { closeLingering, hasLargeRest } from "./connections/close-lingering.ts";
import type { DevGuard } from "./connections/dev-guard.ts";
import { keyTextOf, queryOf, TARGET_START } from "./connections/target.ts";
import { answerTo, type HttpResponse, METHODS_ALLOWED, type ResponseParts, refusedResponse } from "./http-response.ts";
import type { InboundRequest } from "./inbound-request.ts";
import type { RefusalPacer } from "./quotas/refusal-pacer.ts";

export interface HttpEdgeParts extends ResponseParts {
  budget: BodyBudget;
  pacer: RefusalPacer;
  clientIp: ClientIp;
  /** On a dev server: refuses requests from pages of other sites. Null: keys are required instead. */
  guard: DevGuard | null;
  /** Whether the key belongs to a webhook with a handshake: it then accepts GET and HEAD. */
  hasHandshake: (keyText: string) => boolean;
  /** True while the service drains: connections are closed after their response. */
  isDraining: () => boolean;
}

export type HttpHandler = (request: IncomingMessage, response: ServerResponse) => void;

const CLOSE = ["connection", "close"];

export function isForEdge({ url = "" }: IncomingMessage): boolean {
  return url.startsWith(TARGET_START);
}

/** It changes nothing, and pages of any origin get the same response. */
export function isPreflightForEdge(request: IncomingMessage): boolean {
  return request.method === "OPTIONS" && isForEdge(request);
}

export function createHttpEdge(parts: HttpEdgeParts): HttpHandler {
  return (request, response) => {
    if (request.method === "POST") serveContained(parts, request, response);
    else if (request.method === "OPTIONS") answerPreflight(request, response);
    else if (isRead(request) && parts.hasHandshake(keyTextOf(request.url ?? ""))) serveContained(parts, request, response);
    else
      write(
        request,
        response,
        refusedResponse(new Refusal("method_not_allowed", `Events are sent with POST, not with ${request.method}.`)),
      );
  };
}

function isRead({ method }: IncomingMessage): boolean {
  return method === "GET" || method === "HEAD";
}

/** A response that cannot be written ends its own connection. */
function serveContained(parts: HttpEdgeParts, request: IncomingMessage, response: ServerResponse): void {
  serve(parts, request, response).catch((error) => {
    parts.log.error({ err: error }, "a response could not be written: its connection is closed");
    response.destroy();
  });
}

async function serve(parts: HttpEdgeParts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const share = parts.budget.enter();
  if (!share) return write(request, response, refusedResponse(overloaded()));
  const inbound = new EdgeRequest(request, share, parts.clientIp);
  const answer = await answerTo(parts, inbound).finally(() => share.release());
  const delayMs = answer?.isOverQuota ? parts.pacer.delayOf(inbound.keyText) : 0;
  if (delayMs > 0) await delay(delayMs);
  if (answer) write(request, response, answer, parts.isDraining() ? CLOSE : []);
}

/** A class, not an object literal: each literal with a getter would get its own hidden class, which outlives the request. */
class EdgeRequest implements InboundRequest {
  readonly method: string;
  readonly target: string;
  readonly keyText: string;
  readonly query: string;
  readonly headers: IncomingMessage["headers"];
  readonly memory: BodyShare;
  readonly #request: IncomingMessage;
  readonly #clientIp: ClientIp;

  constructor(request: IncomingMessage, share: BodyShare, clientIp: ClientIp) {
    const { url = "", method = "" } = request;
    this.method = method;
    this.target = url;
    this.keyText = keyTextOf(url);
    this.query = queryOf(url);
    this.headers = request.headers;
    this.#request = request;
    this.memory = share;
    this.#clientIp = clientIp;
  }

  get rawHeaders(): readonly string[] {
    return this.#request.rawHeaders;
  }

  get ip(): string {
    return this.#clientIp(this.#request);
  }

  readBody(bytesMax: number): Promise<Body> {
    return readBody(this.#request, bytesMax, this.memory);
  }
}

export function writeRefusal(request: IncomingMessage, response: ServerResponse, refused: Refusal): void {
  write(request, response, refusedResponse(refused));
}

function write(request: IncomingMessage, response: ServerResponse, answer: HttpResponse, more: readonly string[] = []): void {
  const leave = hasLargeRest(request);
  response.writeHead(answer.status, [...answer.headers, ...(leave ? CLOSE : more)]);
  if (leave) closeLingering(request);
  response.end(answer.body);
}

/** Pages of any origin may send events, with any headers; only the key in the path matters. */
function answerPreflight(request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(204, {
    allow: METHODS_ALLOWED,
    "access-control-allow-origin": "*",
    "access-control-allow-methods": METHODS_ALLOWED,
    "access-control-allow-headers": request.headers["access-control-request-headers"] ?? "*",
    "access-control-max-age": "3600",
  });
  response.end();
}
