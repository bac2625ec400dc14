/** The REST API under /v1: its checks, its errors, its routes. */

import type { FastifyInstance } from "fastify";
import { type AuditRoutesParts, registerAuditRoutes } from "./access/audit-routes.ts";
import { type EnvironmentsRoutesParts, registerEnvironmentsRoutes } from "./access/environments-routes.ts";
import { type IdempotencyParts, registerIdempotency } from "./access/idempotency.ts";
import { type KeysRoutesParts, registerKeysRoutes } from "./access/keys-routes.ts";
import { type MoveEnvironmentRouteParts, registerMoveEnvironmentRoute } from "./access/move-environment-route.ts";
import { registerAccess } from "./access/rest-access.ts";
import { type RoleRulesRouteParts, registerRoleRulesRoute } from "./access/role-rules-route.ts";
import { registerNoStore } from "./access/security-headers.ts";
import { registerSessionRoutes, type SessionRoutesParts } from "./access/session-routes.ts";
import { type AlertsRoutesParts, registerAlertsRoutes } from "./alerts/alerts-routes.ts";
import { type RhythmRoutesParts, registerRhythmRoutes } from "./alerts/rhythm-routes.ts";
import { type ApprovalsRoutesParts, registerApprovalsRoutes } from "./approvals/approvals-routes.ts";
import { registerLinkMask } from "./approvals/mask-links.ts";
import { registerCompression } from "./compress-responses.ts";
import { type DatabasesRoutesParts, registerDatabasesRoutes } from "./databases/databases-routes.ts";
import { type EventSchemaRoutesParts, registerEventSchemaRoutes } from "./events/event-schema-routes.ts";
import { type EventStreamParts, registerEventStream } from "./events/event-stream.ts";
import { type EventTypesRoutesParts, registerEventTypesRoutes } from "./events/event-types-routes.ts";
import { type EventsRoutesParts, registerEventsRoutes } from "./events/events-routes.ts";
import { registerRunCountsRoute } from "./events/run-counts-route.ts";
import { registerSendEventsRoute, type SendEventsRouteParts } from "./events/send-events-route.ts";
import { registerStatsRoutes, type StatsRoutesParts } from "./events/stats-routes.ts";
import { type FindRoutesParts, registerFindRoutes } from "./find-routes.ts";
import { type JobsRoutesParts, registerJobsRoutes } from "./jobs/jobs-routes.ts";
import { type DocumentedRoute, rememberRoutes } from "./open-api.ts";
import { type OpenApiRouteParts, registerOpenApiRoute } from "./open-api-route.ts";
import { registerRequestChecks } from "./rest-schemas.ts";
import { type AppsRoutesParts, registerAppsRoutes } from "./runs/apps-routes.ts";
import { type FailuresRoutesParts, registerFailuresRoutes } from "./runs/failures-routes.ts";
import { type FunctionFiguresRouteParts, registerFunctionFiguresRoute } from "./runs/function-figures-route.ts";
import { type FunctionLimitsRoutesParts, registerFunctionLimitsRoutes } from "./runs/function-limits-routes.ts";
import { registerFunctionStatsRoute } from "./runs/function-stats-route.ts";
import { registerFunctionsRoutes } from "./runs/functions-routes.ts";
import { type InvokeRouteParts, registerInvokeRoute } from "./runs/invoke-route.ts";
import { type OrderRoutesParts, registerOrderRoutes } from "./runs/order-routes.ts";
import { type RunCopyRoutesParts, registerRunCopyRoutes } from "./runs/run-copy-routes.ts";
import { type RunStreamParts, registerRunStream } from "./runs/run-stream.ts";
import { registerRunsRoutes } from "./runs/runs-routes.ts";
import { registerSignalsRoutes, type SignalsRoutesParts } from "./runs/signals-routes.ts";
import { registerSavedFiltersRoutes, type SavedFiltersRoutesParts } from "./saved-filters-routes.ts";
import { registerUsageRoute, type UsageRouteParts } from "./usage-route.ts";
import { type DrillRouteParts, registerDrillRoute } from "./webhooks/drill-route.ts";
import { type ReconcileRoutesParts, registerReconcileRoutes } from "./webhooks/reconcile-routes.ts";
import { registerTransformsRoutes, type TransformsRoutesParts } from "./webhooks/transforms-routes.ts";
import { registerWebhookHealthRoute } from "./webhooks/webhook-health-route.ts";
import { registerWebhookRequestStream, type WebhookRequestStreamParts } from "./webhooks/webhook-request-stream.ts";
import { registerWebhookRequestsRoutes, type WebhookRequestsRoutesParts } from "./webhooks/webhook-requests-routes.ts";
import { registerWebhookStatsRoute, type WebhookStatsRouteParts } from "./webhooks/webhook-stats-route.ts";
import { registerWebhooksRoutes, type WebhooksRoutesParts } from "./webhooks/webhooks-routes.ts";

export type RestApiParts = EventsRoutesParts &
  EventStreamParts &
  EnvironmentsRoutesParts &
  MoveEnvironmentRouteParts &
  DatabasesRoutesParts &
  KeysRoutesParts &
  FunctionLimitsRoutesParts &
  AppsRoutesParts &
  OrderRoutesParts &
  RunCopyRoutesParts &
  RunStreamParts &
  JobsRoutesParts &
  AlertsRoutesParts &
  RhythmRoutesParts &
  SignalsRoutesParts &
  ApprovalsRoutesParts &
  FailuresRoutesParts &
  SavedFiltersRoutesParts &
  FindRoutesParts &
  WebhooksRoutesParts &
  WebhookRequestsRoutesParts &
  DrillRouteParts &
  ReconcileRoutesParts &
  WebhookRequestStreamParts &
  WebhookStatsRouteParts &
  TransformsRoutesParts &
  SessionRoutesParts &
  RoleRulesRouteParts &
  AuditRoutesParts &
  IdempotencyParts &
  EventTypesRoutesParts &
  EventSchemaRoutesParts &
  StatsRoutesParts &
  UsageRouteParts &
  SendEventsRouteParts &
  InvokeRouteParts &
  FunctionFiguresRouteParts &
  OpenApiRouteParts;

/** Returns the routes, which are complete once the service listens. */
export function registerRestApi(app: FastifyInstance, parts: RestApiParts): readonly DocumentedRoute[] {
  const routes: DocumentedRoute[] = [];
  app.register(
    async (api) => {
      rememberRoutes(api, routes);
      registerNoStore(api);
      registerRequestChecks(api);
      registerAccess(api, parts.access);
      registerIdempotency(api, parts);
      registerLinkMask(api, parts.access);
      registerCompression(api);
      registerEventsRoutes(api, parts);
      registerSendEventsRoute(api, parts);
      registerRunCountsRoute(api, parts);
      registerEventStream(api, parts);
      registerEnvironmentsRoutes(api, parts);
      registerMoveEnvironmentRoute(api, parts);
      registerDatabasesRoutes(api, parts);
      registerKeysRoutes(api, parts);
      registerFunctionsRoutes(api, parts);
      registerAppsRoutes(api, parts);
      registerFunctionLimitsRoutes(api, parts);
      registerFunctionStatsRoute(api, parts);
      registerFunctionFiguresRoute(api, parts);
      registerInvokeRoute(api, parts);
      registerRunsRoutes(api, parts);
      registerRunCopyRoutes(api, parts);
      registerOrderRoutes(api, parts);
      registerRunStream(api, parts);
      registerJobsRoutes(api, parts);
      registerAlertsRoutes(api, parts);
      registerRhythmRoutes(api, parts);
      registerSignalsRoutes(api, parts);
      registerApprovalsRoutes(api, parts);
      registerFailuresRoutes(api, parts);
      registerSavedFiltersRoutes(api, parts);
      registerFindRoutes(api, parts);
      registerWebhooksRoutes(api, parts);
      registerWebhookHealthRoute(api, parts);
      registerWebhookStatsRoute(api, parts);
      registerReconcileRoutes(api, parts);
      registerWebhookRequestsRoutes(api, parts);
      registerWebhookRequestStream(api, parts);
      registerDrillRoute(api, parts);
      registerTransformsRoutes(api, parts);
      registerSessionRoutes(api, parts);
      registerRoleRulesRoute(api, parts);
      registerAuditRoutes(api, parts);
      registerEventTypesRoutes(api, parts);
      registerEventSchemaRoutes(api, parts);
      registerStatsRoutes(api, parts);
      registerUsageRoute(api, parts);
      registerOpenApiRoute(api, routes, parts);
    },
    { prefix: "/v1" },
  );
  return routes;
}
