/** REST: recorded requests of a webhook, and replaying one. */

import type { ErrorCode, Refusal } from "@inlet/protocol";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { StoreViews, Webhook, WebhookRequest, WebhookRequestListParams, WebhookRequestStore } from "../../store/contract/index.ts";
import type { AuditTrail } from "../access/audit-trail.ts";
import type { AccessRules } from "../access/rest-access.ts";
import { hiddenFromSearch } from "../approvals/mask-links.ts";
import { readCursor, writeCursor } from "../cursors.ts";
import type { PageQuery } from "../list-page.ts";
import { RestRefusal } from "../rest-errors.ts";
import { closed, PAGE_PARAMETERS } from "../rest-schemas.ts";
import { dataOf, listOf, pageOf, shape, TEXT } from "../route-facts.ts";
import { findRequest, withBody } from "./find-request.ts";
import { findWebhook, type WebhookDirectory } from "./find-webhook.ts";
import { REQUEST_FILTERS, type RequestFilterQuery, requestFilter } from "./request-filters.ts";
import { REQUEST, requestView } from "./request-view.ts";

export interface WebhookRequestsRoutesParts {
  access: AccessRules;
  audit: AuditTrail;
  store: WebhookRequestStore;
  views: StoreViews;
  directory: WebhookDirectory;
  /** Sends a recorded request through the current transform, as a new one. */
  replay(record: WebhookRequest, webhook: Webhook): Promise<{ ids: readonly string[] } | { handshake: object } | Refusal>;
}

type ListRequest = { Params: { id: string }; Querystring: PageQuery & RequestFilterQuery };
type ById = { Params: { id: string; requestId: string } };

const LIST = {
  summary: "List the requests a webhook was sent, newest first",
  description: "Includes refused requests. A page with `outcome` or `q` may be short or empty; continue with `page.next`.",
  querystring: closed({ ...PAGE_PARAMETERS, ...REQUEST_FILTERS }),
  response: { 200: pageOf(REQUEST) },
  errors: ["webhook_not_found"],
} as const;
const ONE = {
  querystring: closed({}),
  response: { 200: dataOf(REQUEST) },
  errors: ["webhook_not_found", "webhook_request_not_found"],
} as const;
const GET = { ...ONE, summary: "Get a recorded request" };
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
  const config = { about: "item", ingest: true } as const;
  const replay = { ...config, repair: true, idempotent: "replayed" } as const;
  app.get<ListRequest>("/webhooks/:id/requests", { config, schema: LIST }, (request) => listRequests(parts, request));
  app.get<ById>("/webhooks/:id/requests/:requestId", { config, schema: GET }, (request) => getRequest(parts, request));
  app.post<ById>("/webhooks/:id/requests/:requestId/replay", { config: replay, schema: REPLAY }, (request, reply) =>
    replayRequest(parts, request, reply),
  );
}

async function listRequests({ access, views, directory }: WebhookRequestsRoutesParts, request: FastifyRequest<ListRequest>) {
  const webhook = findWebhook(directory, request, request.params.id);
  const { requests, next } = await views.webhookRequestList({
    ...listParams(webhook, request.query),
    ...hiddenFromSearch(access, request),
  });
  return { data: requests.map((record) => shown(directory, record)), page: { next: next && writeCursor(next) } };
}

async function getRequest({ views, directory }: WebhookRequestsRoutesParts, request: FastifyRequest<ById>) {
  const webhook = findWebhook(directory, request, request.params.id);
  return { data: shown(directory, await findRequest(views, webhook, request.params.requestId)) };
}

async function replayRequest(parts: WebhookRequestsRoutesParts, request: FastifyRequest<ById>, reply: FastifyReply) {
  const { store, directory, audit } = parts;
  const webhook = findWebhook(directory, request, request.params.id);
  const record = await findRequest(store, webhook, request.params.requestId);
  const answer = await parts.replay(withBody(record), webhook);
  if ("code" in answer) throw new RestRefusal(answer.code, answer.message, answer.details, answer.retryAfterS);
  // A handshake is answered again, and creates no event again.
  const ids = "ids" in answer ? answer.ids : [];
  await audit.note(request, {
    action: "webhook.request_replayed",
    target: { kind: "webhook", id: webhook.id, name: webhook.name },
    environment: directory.environment(webhook.environmentId)?.name ?? null,
    details: { requestId: record.id, ids },
  });
  reply.code(201);
  return { data: { ids } };
}

function shown(directory: WebhookDirectory, record: WebhookRequest) {
  return requestView(record, directory.environment(record.deliveredTo)?.name ?? "");
}

function listParams(webhook: Webhook, query: ListRequest["Querystring"]): WebhookRequestListParams {
  return {
    environmentId: webhook.environmentId,
    webhookId: webhook.id,
    limit: query.limit,
    ...(query.cursor !== undefined && { after: readCursor(query.cursor) }),
    ...requestFilter(query),
  };
}
