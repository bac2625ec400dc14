/** The responses of `/e/…` as HTTP, independent of the code that writes them to the connection. */

import { ERRORS, errorBody, Refusal } from "@inlet/protocol";
import type { Logger } from "pino";
import { ABORTED } from "./bodies/read-body.ts";
import type { Accepted, Answered, InboundRequest, ReceiveOutcome } from "./inbound-request.ts";

export interface HttpResponse {
  status: number;
  /** Alternating names and values. */
  headers: string[];
  body: string;
  isOverQuota?: boolean;
}

export interface ResponseParts {
  receive: (request: InboundRequest) => Promise<ReceiveOutcome>;
  log: Logger;
}

export const METHODS_ALLOWED = "POST, OPTIONS";
const RETRY_AFTER_S = 1;
/** No Content, Not Modified. */
const BODILESS: ReadonlySet<number> = new Set([204, 304]);

/** Null: the client has disconnected. */
export async function answerTo({ receive, log }: ResponseParts, request: InboundRequest): Promise<HttpResponse | null> {
  try {
    const response = await receive(request);
    if (response === ABORTED) return null;
    if (response instanceof Refusal) return refusedResponse(response);
    return "handshake" in response ? handshakeResponse(response) : acceptedResponse(response);
  } catch (error) {
    log.error({ err: error }, "accepting events failed unexpectedly");
    return refusedResponse(new Refusal("internal_error", "The service failed unexpectedly; nothing was stored."));
  }
}

/** No cookies and no CORS headers: pages have no use for this response. */
function handshakeResponse({ handshake: { status, contentType, headers, body } }: Answered): HttpResponse {
  return withBody(status, contentType, body, headers);
}

function acceptedResponse({ ids, answer }: Accepted): HttpResponse {
  if (answer) return chosenResponse(answer);
  // Ids need no escaping: they are ULIDs.
  const body = `{"ids":["${ids.join('","')}"],"status":200}`;
  return { status: 200, headers: headersOf(body.length), body };
}

function chosenResponse({ status, contentType, body }: NonNullable<Accepted["answer"]>): HttpResponse {
  return withBody(status, contentType, body, ["access-control-allow-origin", "*"]);
}

/** A status without a body has neither its length nor its type. */
function withBody(status: number, contentType: string, body: string, headers: readonly string[]): HttpResponse {
  if (BODILESS.has(status)) return { status, headers: [...headers], body: "" };
  return { status, headers: [...chosenHeaders(contentType, body), ...headers], body };
}

/** Keeps browsers from interpreting the text as another type. */
function chosenHeaders(contentType: string, body: string): string[] {
  const type = `${contentType}; charset=utf-8`;
  return ["content-type", type, "content-length", String(Buffer.byteLength(body)), "x-content-type-options", "nosniff"];
}

export function refusedResponse(refused: Refusal): HttpResponse {
  const body = errorBody(refused);
  const headers = headersOf(Buffer.byteLength(body));
  if (refused.code === "method_not_allowed") headers.push("allow", METHODS_ALLOWED);
  if (ERRORS[refused.code].retry === "retryable") headers.push("retry-after", String(refused.retryAfterS ?? RETRY_AFTER_S));
  return { status: refused.status, headers, body, isOverQuota: refused.code === "quota_exceeded" };
}

function headersOf(bytes: number): string[] {
  return ["content-type", "application/json", "content-length", String(bytes), "access-control-allow-origin", "*"];
}
