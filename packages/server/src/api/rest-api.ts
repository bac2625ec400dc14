/** The REST API under /v1: its checks, its errors, its routes. */

import type { FastifyInstance } from "fastify";
import { type EnvironmentsRoutesParts, registerEnvironmentsRoutes } from "./environments-routes.ts";
import { type EventStreamParts, registerEventStream } from "./event-stream.ts";
import { registerEventsRoutes } from "./events-routes.ts";
import { type FunctionsRoutesParts, registerFunctionsRoutes } from "./functions-routes.ts";
import { type KeysRoutesParts, registerKeysRoutes } from "./keys-routes.ts";
import { registerAccess } from "./rest-access.ts";
import { registerRequestChecks } from "./rest-schemas.ts";
import { type RunsRoutesParts, registerRunsRoutes } from "./runs-routes.ts";
import { registerTransformsRoutes, type TransformsRoutesParts } from "./transforms-routes.ts";
import { registerWebhookRequestStream, type WebhookRequestStreamParts } from "./webhook-request-stream.ts";
import { registerWebhookRequestsRoutes, type WebhookRequestsRoutesParts } from "./webhook-requests-routes.ts";
import { registerWebhooksRoutes, type WebhooksRoutesParts } from "./webhooks-routes.ts";

export type RestApiParts = EventStreamParts &
  EnvironmentsRoutesParts &
  KeysRoutesParts &
  FunctionsRoutesParts &
  RunsRoutesParts &
  WebhooksRoutesParts &
  WebhookRequestsRoutesParts &
  WebhookRequestStreamParts &
  TransformsRoutesParts;

export function registerRestApi(app: FastifyInstance, parts: RestApiParts): void {
  app.register(
    async (api) => {
      registerRequestChecks(api);
      registerAccess(api, parts.access);
      registerEventsRoutes(api, parts);
      registerEventStream(api, parts);
      registerEnvironmentsRoutes(api, parts);
      registerKeysRoutes(api, parts);
      registerFunctionsRoutes(api, parts);
      registerRunsRoutes(api, parts);
      registerWebhooksRoutes(api, parts);
      registerWebhookRequestsRoutes(api, parts);
      registerWebhookRequestStream(api, parts);
      registerTransformsRoutes(api, parts);
    },
    { prefix: "/v1" },
  );
}
