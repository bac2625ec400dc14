/** All HTTP routes except those that accept events: health, metrics, SDKs, REST, MCP, realtime, the documentation and the dashboard. */

import { randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import type { EnvironmentId, EventIdGenerator } from "@inlet/protocol";
import { readProviderTemplates } from "@inlet/providers";
import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import packageFile from "../../package.json" with { type: "json" };
import type { AttemptBudget } from "../api/access/attempt-budget.ts";
import { AuditTrail } from "../api/access/audit-trail.ts";
import type { LoginTokens } from "../api/access/login-tokens.ts";
import { type OidcRoutesParts, registerOidcRoutes } from "../api/access/oidc.ts";
import { grantsOf } from "../api/access/oidc-claims.ts";
import type { AccessRules } from "../api/access/rest-access.ts";
import { Sessions } from "../api/access/sessions.ts";
import { registerApprovalPage } from "../api/approvals/approval-page-routes.ts";
import { registerDashboardFiles } from "../api/dashboard-files.ts";
import { registerDocsRoutes } from "../api/docs/docs-routes.ts";
import { createDocumentationReader } from "../api/docs/documentation.ts";
import { type HealthParts, registerHealthRoutes } from "../api/health-routes.ts";
import { registerPeerApi } from "../api/inngest/peer-api.ts";
import { environmentUuid } from "../api/inngest/responses.ts";
import { registerMcpRoute } from "../api/mcp/mcp-route.ts";
import { registerMetricsRoute } from "../api/metrics-route.ts";
import type { DocumentedRoute } from "../api/open-api.ts";
import type { PublishParts } from "../api/realtime/publish-messages.ts";
import { registerRealtimeRoutes } from "../api/realtime/realtime-routes.ts";
import { RealtimeTokens } from "../api/realtime/tokens.ts";
import { type RestApiParts, registerRestApi } from "../api/rest-api.ts";
import { registerSdkRoutes } from "../api/sdk/sdk-routes.ts";
import { StreamSlots } from "../api/streams/stream-slots.ts";
import type { Config } from "../config/config.ts";
import { compareShapes } from "../flows/compare-shapes.ts";
import { toTransformTest } from "../flows/to-transform-test.ts";
import type { Metrics } from "../observe/metrics/metrics.ts";
import { createProxyCheck } from "../receive/connections/client-ip.ts";
import { bodyOf, wasVerified } from "../receive/replay-request.ts";
import type { Directory } from "../receive/senders/directory.ts";
import { isIpRange } from "../receive/senders/ip-list.ts";
import { issueKey, issueWebhookToken } from "../receive/senders/issue-key.ts";
import type { SessionPerson, Store, StoreViews } from "../store/contract/index.ts";
import { completeVerify, type TransformRunner, tryTransform, verifySettingFault } from "../transform/index.ts";
import type { Functions } from "./functions.ts";

/** The Markdown files: at the root of a clone, and at the root of the package. */
const DOCS_FOLDER = fileURLToPath(new URL("../../../../docs", import.meta.url));
const DASHBOARD_FOLDER = fileURLToPath(new URL("../../../dashboard/dist", import.meta.url));

export interface HttpRoutesParts
  extends Pick<
    RestApiParts,
    | "jobs"
    | "reconciliations"
    | "alerts"
    | "silences"
    | "sourceName"
    | "replay"
    | "sendEvents"
    | "usageOf"
    | "traffic"
    | "usage"
    | "eventTypeCounter"
    | "catalogue"
    | "shapes"
    | "queueHistory"
    | "drained"
  > {
  archive: RestApiParts["archive"] & HealthParts["archive"];
  config: Config;
  store: Store;
  directory: Directory;
  functions: Functions;
  transforms: TransformRunner;
  metrics: Metrics;
  attempts: AttemptBudget;
  loginTokens: LoginTokens;
  oidc: OidcRoutesParts["oidc"];
  disk: PublishParts["disk"];
  /** The environment of requests that name none. */
  defaultEnvironment: string;
  ids: EventIdGenerator;
  /** Whether the service was asked to stop; requests may still be accepted for a while. */
  isStopping: () => boolean;
  /** Of live streams; absent: the usual. */
  heartbeatMs?: number | undefined;
  /** The build of the dashboard; absent: the one of this checkout. */
  dashboardFolder?: string | undefined;
  log: Logger;
  now: () => number;
}

/** Dependencies that several groups of routes share. */
interface Shared extends HttpRoutesParts {
  views: StoreViews;
  isDev: boolean;
  isProxy: (ip: string) => boolean;
  access: AccessRules;
  audit: AuditTrail;
  newId: () => ReturnType<EventIdGenerator["next"]>;
}

export function registerHttpRoutes(app: FastifyInstance, parts: HttpRoutesParts): void {
  const { config, directory, store, metrics, oidc, ids, log, now } = parts;
  const isDev = config.mode === "dev";
  const newId = () => ids.next(now());
  const personGrants = (person: SessionPerson) => grantsOf(person, oidc?.settings ?? null);
  const sessions = new Sessions({ store, workingKey: (id) => directory.workingKey(id), personGrants, newId, log, now });
  const shared: Shared = {
    ...parts,
    views: store.storeViews,
    isDev,
    isProxy: createProxyCheck(config.trustProxy),
    access: { ...parts, open: isDev, publicUrl: config.publicUrl, sessions },
    audit: new AuditTrail(store, log, now),
    newId,
  };
  registerHealthRoutes(app, { store, isDraining: parts.isStopping, archive: parts.archive, now });
  registerMetricsRoute(app, { metrics, access: shared.access });
  const address = { publicUrl: config.publicUrl, isProxy: shared.isProxy };
  registerOidcRoutes(app, { oidc, access: shared.access, audit: shared.audit, address, now });
  registerForSdks(app, shared);
  const routes = registerRestRoutes(app, shared);
  registerApprovalPage(app, { ...shared, approvals: parts.functions.approvals, runs: parts.functions.runs });
  const documentation = createDocumentationReader(DOCS_FOLDER);
  registerMcpRoute(app, { ...shared, mode: config.mcp, address, routes, documentation, version: packageFile.version });
  registerDocsRoutes(app, { folder: DOCS_FOLDER, documentation, version: packageFile.version });
  registerDashboardFiles(app, parts.dashboardFolder ?? DASHBOARD_FOLDER);
}

/** Routes for SDKs: our own protocol, realtime, and the REST API that the published SDKs use. */
function registerForSdks(app: FastifyInstance, shared: Shared): void {
  const { functions, directory, isDev, now } = shared;
  registerSdkRoutes(app, { ...shared, version: packageFile.version, sdk: functions.sdk });
  const devKeys = [{ id: null, text: randomBytes(32).toString("hex") }];
  const keys = (id: EnvironmentId) => (isDev ? devKeys : directory.signingKeys(id));
  registerRealtimeRoutes(app, {
    ...shared,
    environmentUuid,
    retentionMs: shared.config.streamRetention,
    tokens: new RealtimeTokens({ keys, now }),
  });
  registerPeerApi(app, {
    ...shared,
    ...functions.inngest,
    isApiKey: (text) => directory.key("api", text) !== null,
    cancel: (run) => functions.runs.cancel(run),
  });
}

function registerRestRoutes(app: FastifyInstance, shared: Shared): readonly DocumentedRoute[] {
  const { config, functions, transforms, directory, now } = shared;
  const trials = { directory, publicUrl: config.publicUrl, now };
  return registerRestApi(app, {
    ...shared,
    runs: functions.runs,
    runCopies: functions.runCopies,
    invoke: functions.inngest.invoke,
    signals: functions.signals,
    approvals: functions.approvals,
    registry: functions.registry,
    subscribersOf: functions.subscribersOf,
    functionId: functions.functionId,
    slots: new StreamSlots(),
    publicUrl: config.publicUrl,
    traceUrl: config.traceUrl,
    version: packageFile.version,
    storeKind: config.databaseUrl === null ? "sqlite" : "postgres",
    checkTransform: async (source, entry) => {
      const checked = await transforms.check(source, entry);
      return checked.ok ? null : checked;
    },
    tryTransform: (request) => {
      const environment = request.webhook && directory.environment(request.webhook.environmentId);
      return tryTransform(transforms, toTransformTest(request, trials), { bytesMax: environment?.bodyBytesMax ?? config.bodyLimit });
    },
    providerTemplates: readProviderTemplates,
    issueKey,
    issueWebhookToken,
    isIpRange,
    completeVerify,
    verifySettingFault,
    wasVerified,
    bodyOf,
    compareShapes,
  });
}
