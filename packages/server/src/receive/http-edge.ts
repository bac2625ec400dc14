/**
 * The HTTP edge of `/e/<key>`: turns a request into an InboundRequest, hands it on, writes the answer.
 *
 * This is the hot path, so requests come here straight from Node's HTTP server: the framework that serves the REST API costs
 * about 10 µs a request, as much as storing the event does.
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import { ERRORS, errorBody, Refusal } from "@inlet/protocol";
import type { Logger } from "pino";
import type { BodyBudget, BodyShare } from "./body-budget.ts";
import type { ClientIp } from "./client-ip.ts";
import { closeLingering } from "./close-lingering.ts";
import type { Accepted, Answer, InboundRequest } from "./inbound-request.ts";
import { ABORTED, overloaded, readBody } from "./read-body.ts";

export interface HttpEdgeParts {
  receive: (request: InboundRequest) => Promise<Answer>;
  budget: BodyBudget;
  clientIp: ClientIp;
  log: Logger;
  /** True while the service drains: connections are closed after their answer. */
  isDraining: () => boolean;
}

export type HttpHandler = (request: IncomingMessage, response: ServerResponse) => void;

const PATH = "/e/";
const METHODS_ALLOWED = "POST, OPTIONS";
const RETRY_AFTER_S = "1";
const SMALL_BODY_BYTES = 64 * 1024;

export function isForEdge({ url = "" }: IncomingMessage): boolean {
  return url.startsWith(PATH);
}

export function createHttpEdge(parts: HttpEdgeParts): HttpHandler {
  return (request, response) => {
    if (request.method === "POST") void serve(parts, request, response);
    else if (request.method === "OPTIONS") answerPreflight(request, response);
    else {
      const refused = new Refusal("method_not_allowed", `Events are sent with POST, not with ${request.method}.`);
      writeRefusal(request, response, refused, { allow: METHODS_ALLOWED });
    }
  };
}

async function serve(parts: HttpEdgeParts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const share = parts.budget.enter();
  if (!share) return writeRefusal(request, response, overloaded());
  try {
    const answer = await parts.receive(new EdgeRequest(request, share, parts.clientIp));
    if (answer === ABORTED) return;
    if (parts.isDraining()) response.setHeader("connection", "close");
    if (answer instanceof Refusal) writeRefusal(request, response, answer);
    else writeAccepted(response, answer);
  } catch (error) {
    parts.log.error({ err: error }, "accepting events failed unexpectedly");
    writeRefusal(request, response, new Refusal("internal_error", "The service failed unexpectedly; nothing was stored."));
  } finally {
    share.release();
  }
}

/** A class, not an object literal: a literal with a getter gets a hidden class of its own each time, 3 KB that outlive the request. */
class EdgeRequest implements InboundRequest {
  readonly keyText: string;
  readonly query: string;
  readonly headers: IncomingMessage["headers"];
  readonly #request: IncomingMessage;
  readonly #share: BodyShare;
  readonly #clientIp: ClientIp;

  constructor(request: IncomingMessage, share: BodyShare, clientIp: ClientIp) {
    const url = request.url ?? "";
    const queryStart = url.indexOf("?");
    this.keyText = decodeKey(queryStart < 0 ? url.slice(PATH.length) : url.slice(PATH.length, queryStart));
    this.query = queryStart < 0 ? "" : url.slice(queryStart + 1);
    this.headers = request.headers;
    this.#request = request;
    this.#share = share;
    this.#clientIp = clientIp;
  }

  get rawHeaders(): readonly string[] {
    return this.#request.rawHeaders;
  }

  get ip(): string {
    return this.#clientIp(this.#request);
  }

  readBody(bytesMax: number): ReturnType<typeof readBody> {
    return readBody(this.#request, bytesMax, this.#share);
  }
}

/** What cannot be decoded is no key of ours, and is looked up as it is. */
function decodeKey(text: string): string {
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function writeAccepted(response: ServerResponse, { ids }: Accepted): void {
  // Ids need no escaping: they are ULIDs.
  const body = `{"ids":["${ids.join('","')}"],"status":200}`;
  response.writeHead(200, ["content-type", "application/json", "content-length", String(body.length), "access-control-allow-origin", "*"]);
  response.end(body, "latin1");
}

function writeRefusal(request: IncomingMessage, response: ServerResponse, refused: Refusal, headers: Record<string, string> = {}): void {
  const body = Buffer.from(errorBody(refused));
  const leave = hasLargeRest(request);
  response.writeHead(refused.status, {
    "content-type": "application/json",
    "content-length": body.length,
    "access-control-allow-origin": "*",
    ...(ERRORS[refused.code].retry === "retryable" && { "retry-after": RETRY_AFTER_S }),
    ...(leave && { connection: "close" }),
    ...headers,
  });
  response.end(body);
  if (leave) closeLingering(request);
}

/** What is left of a small body costs less to read than a new connection: Node throws it away by itself. */
function hasLargeRest(request: IncomingMessage): boolean {
  if (request.complete) return false;
  const declared = request.headers["content-length"];
  return declared === undefined ? request.headers["transfer-encoding"] !== undefined : Number(declared) > SMALL_BODY_BYTES;
}

/** Any page may send events, with whatever headers it asks for; the key in the path is what counts. */
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
