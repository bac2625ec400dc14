/** The REST API under /v1: its checks, its errors, its routes. */

import type { FastifyInstance } from "fastify";
import { type AuditRoutesParts, registerAuditRoutes } from "./audit-routes.ts";
import { type EnvironmentsRoutesParts, registerEnvironmentsRoutes } from "./environments-routes.ts";
import { type EventStreamParts, registerEventStream } from "./event-stream.ts";
import { type EventTypesRoutesParts, registerEventTypesRoutes } from "./event-types-routes.ts";
import { registerEventsRoutes } from "./events-routes.ts";
import { type FunctionsRoutesParts, registerFunctionsRoutes } from "./functions-routes.ts";
import { type IdempotencyParts, registerIdempotency } from "./idempotency.ts";
import { type KeysRoutesParts, registerKeysRoutes } from "./keys-routes.ts";
import { rememberRoutes } from "./open-api.ts";
import { type OpenApiRouteParts, registerOpenApiRoute } from "./open-api-route.ts";
import { registerAccess } from "./rest-access.ts";
import { registerRequestChecks } from "./rest-schemas.ts";
import { type RunStreamParts, registerRunStream } from "./run-stream.ts";
import { registerRunsRoutes } from "./runs-routes.ts";
import { registerNoStore } from "./security-headers.ts";
import { registerSessionRoutes, type SessionRoutesParts } from "./session-routes.ts";
import { registerStatsRoutes, type StatsRoutesParts } from "./stats-routes.ts";
import { registerTransformsRoutes, type TransformsRoutesParts } from "./transforms-routes.ts";
import { registerWebhookRequestStream, type WebhookRequestStreamParts } from "./webhook-request-stream.ts";
import { registerWebhookRequestsRoutes, type WebhookRequestsRoutesParts } from "./webhook-requests-routes.ts";
import { registerWebhooksRoutes, type WebhooksRoutesParts } from "./webhooks-routes.ts";

export type RestApiParts = EventStreamParts &
  EnvironmentsRoutesParts &
  KeysRoutesParts &
  FunctionsRoutesParts &
  RunStreamParts &
  WebhooksRoutesParts &
  WebhookRequestsRoutesParts &
  WebhookRequestStreamParts &
  TransformsRoutesParts &
  SessionRoutesParts &
  AuditRoutesParts &
  IdempotencyParts &
  EventTypesRoutesParts &
  StatsRoutesParts &
  OpenApiRouteParts;

export function registerRestApi(app: FastifyInstance, parts: RestApiParts): void {
  app.register(
    async (api) => {
      const routes = rememberRoutes(api);
      registerNoStore(api);
      registerRequestChecks(api);
      registerAccess(api, parts.access);
      registerIdempotency(api, parts);
      registerEventsRoutes(api, parts);
      registerEventStream(api, parts);
      registerEnvironmentsRoutes(api, parts);
      registerKeysRoutes(api, parts);
      registerFunctionsRoutes(api, parts);
      registerRunsRoutes(api, parts);
      registerRunStream(api, parts);
      registerWebhooksRoutes(api, parts);
      registerWebhookRequestsRoutes(api, parts);
      registerWebhookRequestStream(api, parts);
      registerTransformsRoutes(api, parts);
      registerSessionRoutes(api, parts);
      registerAuditRoutes(api, parts);
      registerEventTypesRoutes(api, parts);
      registerStatsRoutes(api, parts);
      registerOpenApiRoute(api, routes, parts);
    },
    { prefix: "/v1" },
  );
}
