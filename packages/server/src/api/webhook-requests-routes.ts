/** REST: the record of a webhook's requests, and replaying one. */

import type { Refusal, WebhookRequestId } from "@inlet/protocol";
import type { FastifyInstance } from "fastify";
import type { Environment, Webhook, WebhookRequest, WebhookRequestListParams, WebhookRequestStore } from "../store/contract/index.ts";
import { readCursor, writeCursor } from "./cursors.ts";
import { readInstant } from "./instant.ts";
import { RestRefusal } from "./rest-errors.ts";
import { closed, PAGE_PARAMETERS } from "./rest-schemas.ts";
import { findWebhook } from "./webhooks-routes.ts";

export interface WebhookRequestsRoutesParts {
  store: WebhookRequestStore;
  directory: { webhooks(): Webhook[]; environment(id: Environment["id"]): Environment | undefined };
  /** Sends a recorded request through the current transform, as a new one. */
  replay(record: WebhookRequest, webhook: Webhook): Promise<{ ids: readonly string[] } | Refusal>;
}

interface ListQuery {
  limit: number;
  cursor?: string;
  outcome?: string;
  from?: string;
  to?: string;
}

const LIST_PARAMETERS = closed({
  ...PAGE_PARAMETERS,
  outcome: { type: "string", minLength: 1, description: "`accepted`, or the code of an error." },
  from: { type: "string", description: "Received at or after: ISO 8601 or milliseconds." },
  to: { type: "string", description: "Received before: ISO 8601 or milliseconds." },
});

export function registerWebhookRequestsRoutes(app: FastifyInstance, parts: WebhookRequestsRoutesParts): void {
  const { store, directory } = parts;
  const view = (record: WebhookRequest) => requestView(record, directory.environment(record.deliveredTo)?.name ?? "");

  app.get<{ Params: { id: string }; Querystring: ListQuery }>(
    "/webhooks/:id/requests",
    { schema: { querystring: LIST_PARAMETERS } },
    async (request) => {
      const webhook = findWebhook(directory, request.params.id);
      const { requests, next } = await store.webhookRequestList(listParams(webhook, request.query));
      return { data: requests.map(view), page: { next: next && writeCursor(next) } };
    },
  );

  app.get<{ Params: { id: string; requestId: string } }>(
    "/webhooks/:id/requests/:requestId",
    { schema: { querystring: closed({}) } },
    async (request) => ({ data: view(await findRequest(store, findWebhook(directory, request.params.id), request.params.requestId)) }),
  );

  app.post<{ Params: { id: string; requestId: string } }>(
    "/webhooks/:id/requests/:requestId/replay",
    { schema: { querystring: closed({}) } },
    async (request, reply) => {
      const webhook = findWebhook(directory, request.params.id);
      const record = await findRequest(store, webhook, request.params.requestId);
      const answer = await parts.replay(withBody(record), webhook);
      if (!("ids" in answer)) throw new RestRefusal(answer.code, answer.message, answer.details);
      reply.code(201);
      return { data: { ids: answer.ids } };
    },
  );
}

export async function findRequest(store: WebhookRequestStore, webhook: Webhook, id: string): Promise<WebhookRequest> {
  const { environmentId, id: webhookId } = webhook;
  const record = await store.webhookRequestGet({ environmentId, webhookId, id: id as WebhookRequestId });
  if (!record) throw new RestRefusal("webhook_request_not_found", `No request ${id} is recorded for this webhook.`);
  return record;
}

/** An oversized request was recorded without its body: there is nothing to run again. */
export function withBody(record: WebhookRequest): WebhookRequest {
  if (record.body !== null) return record;
  throw new RestRefusal("webhook_request_incomplete", "The body of this request was too large to keep.");
}

function listParams(webhook: Webhook, query: ListQuery): WebhookRequestListParams {
  return {
    environmentId: webhook.environmentId,
    webhookId: webhook.id,
    limit: query.limit,
    ...(query.cursor !== undefined && { after: readCursor(query.cursor) }),
    ...(query.from !== undefined && { from: readInstant("from", query.from) }),
    ...(query.to !== undefined && { to: readInstant("to", query.to) }),
    ...(query.outcome !== undefined && { outcome: query.outcome }),
  };
}

export function requestView(record: WebhookRequest, environment: string) {
  return {
    id: record.id,
    receivedAt: new Date(record.receivedAt).toISOString(),
    ip: record.ip,
    method: record.method,
    headers: JSON.parse(record.headers),
    query: JSON.parse(record.query),
    contentType: record.contentType,
    body: record.body,
    ...(record.bodyBase64 !== null && { bodyBase64: record.bodyBase64 }),
    status: record.status,
    outcome: record.outcome,
    ...(record.error !== null && { error: record.error }),
    ...(record.eventId !== null && { eventId: record.eventId }),
    environment,
    transformVersion: record.transformVersion,
    durationMs: record.durationMs,
    logs: JSON.parse(record.logs),
  };
}
