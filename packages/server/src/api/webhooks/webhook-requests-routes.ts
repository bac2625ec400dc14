/** REST: recorded requests of a webhook, and replaying one. */

import { canonicalHeaders, type ErrorCode, parseQuery, type Refusal, type WebhookRequestId } from "@inlet/protocol";
import type { FastifyInstance } from "fastify";
import type { StoreViews, Webhook, WebhookRequest, WebhookRequestListParams, WebhookRequestStore } from "../../store/contract/index.ts";
import type { AuditTrail } from "../access/audit-trail.ts";
import { readCursor, writeCursor } from "../cursors.ts";
import { readInstant } from "../instant.ts";
import { RestRefusal } from "../rest-errors.ts";
import { closed, PAGE_PARAMETERS } from "../rest-schemas.ts";
import { dataOf, INSTANT, INTEGER, listOf, NUMBER, pageOf, shape, TEXT, TEXT_OR_NULL } from "../route-facts.ts";
import { findWebhook, type WebhookDirectory } from "./find-webhook.ts";

export interface WebhookRequestsRoutesParts {
  audit: AuditTrail;
  store: WebhookRequestStore;
  views: StoreViews;
  directory: WebhookDirectory;
  /** Sends a recorded request through the current transform, as a new one. */
  replay(record: WebhookRequest, webhook: Webhook): Promise<{ ids: readonly string[] } | { handshake: object } | Refusal>;
}

export interface RequestFilterQuery {
  outcome?: string;
  q?: string;
  from?: string;
  to?: string;
}

interface ListQuery extends RequestFilterQuery {
  limit: number;
  cursor?: string;
}

/** The filters of requests: in the list, and in jobs. */
export const REQUEST_FILTERS = {
  outcome: { type: "string", minLength: 1, description: "`accepted`, `handshake`, or the code of an error." },
  q: { type: "string", minLength: 1, maxLength: 200, description: "Text in the body; ignores case." },
  from: { type: "string", description: "Received at or after: ISO 8601 or milliseconds." },
  to: { type: "string", description: "Received before: ISO 8601 or milliseconds." },
} as const;
const LIST_PARAMETERS = closed({ ...PAGE_PARAMETERS, ...REQUEST_FILTERS });

const REQUEST = shape(
  {
    id: TEXT,
    receivedAt: INSTANT,
    ip: TEXT,
    method: TEXT,
    headers: {
      type: "object",
      additionalProperties: { type: "string" },
      description: "As the transform saw them: names in canonical form, repeated headers joined.",
    },
    rawHeaders: { ...listOf(TEXT), description: "Alternating names and values, as received." },
    query: { type: "object", additionalProperties: { type: "array", items: { type: "string" } } },
    rawQuery: { type: "string", description: "The query string, as received." },
    contentType: TEXT_OR_NULL,
    body: { ...TEXT_OR_NULL, description: "Null if it was too large to store." },
    bodyBase64: {
      type: "string",
      description: "The bytes as received, if `body` does not represent them exactly: not UTF-8, or compressed.",
    },
    status: INTEGER,
    outcome: { type: "string", description: "`accepted`, `handshake`, or the code of an error." },
    verified: {
      type: ["boolean", "null"],
      description: "Whether its signature was valid; null if the webhook does not verify requests.",
    },
    reconciled: { type: "boolean", description: "True: it was not received. Reconciliation found it in the provider's list." },
    error: TEXT,
    eventId: TEXT,
    environment: { type: "string", description: "Where the event went." },
    transformVersion: INTEGER,
    durationMs: NUMBER,
    logs: listOf(TEXT),
  },
  { optional: ["bodyBase64", "reconciled", "error", "eventId"], title: "WebhookRequest" },
);
const config = { about: "item", ingest: true } as const;
const ONE = {
  querystring: closed({}),
  response: { 200: dataOf(REQUEST) },
  errors: ["webhook_not_found", "webhook_request_not_found"],
} as const;
const REPLAY = {
  ...ONE,
  summary: "Send a recorded request through the current transform",
  description: "Creates a new event, unless its id is a duplicate, and records a new request.",
  response: { 201: dataOf(shape({ ids: listOf(TEXT) })) },
  errors: [
    "webhook_not_found",
    "webhook_request_not_found",
    "webhook_request_incomplete",
    "event_name_denied",
    "ip_denied",
    "transform_failed",
    "transform_invalid_event",
    "transform_timeout",
    "transform_memory",
    "body_invalid",
    "signature_invalid",
    "secret_missing",
    "handshake_failed",
    "method_not_allowed",
  ] as ErrorCode[],
};

export function registerWebhookRequestsRoutes(app: FastifyInstance, parts: WebhookRequestsRoutesParts): void {
  const { store, views, directory } = parts;
  const view = (record: WebhookRequest) => requestView(record, directory.environment(record.deliveredTo)?.name ?? "");

  app.get<{ Params: { id: string }; Querystring: ListQuery }>(
    "/webhooks/:id/requests",
    {
      config,
      schema: {
        summary: "List the requests a webhook was sent, newest first",
        description: "Includes refused requests. A page with `outcome` or `q` may be short or empty; continue with `page.next`.",
        querystring: LIST_PARAMETERS,
        response: { 200: pageOf(REQUEST) },
        errors: ["webhook_not_found"],
      },
    },
    async (request) => {
      const webhook = findWebhook(directory, request, request.params.id);
      const { requests, next } = await views.webhookRequestList(listParams(webhook, request.query));
      return { data: requests.map(view), page: { next: next && writeCursor(next) } };
    },
  );

  app.get<{ Params: { id: string; requestId: string } }>(
    "/webhooks/:id/requests/:requestId",
    { config, schema: { ...ONE, summary: "Get a recorded request" } },
    async (request) => ({
      data: view(await findRequest(views, findWebhook(directory, request, request.params.id), request.params.requestId)),
    }),
  );

  app.post<{ Params: { id: string; requestId: string } }>(
    "/webhooks/:id/requests/:requestId/replay",
    { config: { ...config, repair: true, idempotent: "replayed" }, schema: REPLAY },
    async (request, reply) => {
      const webhook = findWebhook(directory, request, request.params.id);
      const record = await findRequest(store, webhook, request.params.requestId);
      const answer = await parts.replay(withBody(record), webhook);
      if ("code" in answer) throw new RestRefusal(answer.code, answer.message, answer.details);
      // A handshake is answered again, and creates no event again.
      const ids = "ids" in answer ? answer.ids : [];
      await parts.audit.note(request, {
        action: "webhook.request_replayed",
        target: { kind: "webhook", id: webhook.id, name: webhook.name },
        environment: directory.environment(webhook.environmentId)?.name ?? null,
        details: { requestId: record.id, ids },
      });
      reply.code(201);
      return { data: { ids } };
    },
  );
}

export async function findRequest(
  store: Pick<WebhookRequestStore, "webhookRequestGet">,
  webhook: Webhook,
  id: string,
): Promise<WebhookRequest> {
  const { environmentId, id: webhookId } = webhook;
  const record = await store.webhookRequestGet({ environmentId, webhookId, id: id as WebhookRequestId });
  if (!record) throw new RestRefusal("webhook_request_not_found", `No request ${id} is recorded for this webhook.`);
  return record;
}

/** An oversized request was recorded without its body: there is nothing to run again. */
export function withBody(record: WebhookRequest): WebhookRequest {
  if (record.body !== null) return record;
  throw new RestRefusal("webhook_request_incomplete", "The body of this request was too large to store.");
}

function listParams(webhook: Webhook, query: ListQuery): WebhookRequestListParams {
  return {
    environmentId: webhook.environmentId,
    webhookId: webhook.id,
    limit: query.limit,
    ...(query.cursor !== undefined && { after: readCursor(query.cursor) }),
    ...requestFilter(query),
  };
}

export function requestFilter(query: RequestFilterQuery): Pick<WebhookRequestListParams, "from" | "to" | "outcome" | "text"> {
  return {
    ...(query.from !== undefined && { from: readInstant("from", query.from) }),
    ...(query.to !== undefined && { to: readInstant("to", query.to) }),
    ...(query.outcome !== undefined && { outcome: query.outcome }),
    ...(query.q !== undefined && { text: query.q }),
  };
}

export function requestView(record: WebhookRequest, environment: string) {
  const rawHeaders = JSON.parse(record.headers) as string[];
  return {
    id: record.id,
    receivedAt: new Date(record.receivedAt).toISOString(),
    ip: record.ip,
    method: record.method,
    headers: canonicalHeaders(rawHeaders),
    rawHeaders,
    query: parseQuery(record.query),
    rawQuery: record.query,
    contentType: record.contentType,
    body: record.body,
    ...(record.bodyBase64 !== null && { bodyBase64: record.bodyBase64 }),
    status: record.status,
    outcome: record.outcome,
    verified: record.verifiedAt === null ? null : record.outcome !== "signature_invalid",
    ...(record.isReconciled && { reconciled: true }),
    ...(record.error !== null && { error: record.error }),
    ...(record.eventId !== null && { eventId: record.eventId }),
    environment,
    transformVersion: record.transformVersion,
    durationMs: record.durationMs,
    logs: JSON.parse(record.logs),
  };
}
