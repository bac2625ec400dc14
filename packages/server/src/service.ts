/** The composition root: makes every part, connects them, starts and stops them in order. */

import { randomBytes } from "node:crypto";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { createEventIdGenerator, type JobId, type Refusal } from "@inlet/protocol";
import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import packageFile from "../package.json" with { type: "json" };
import { AlertWatch } from "./alerts/alert-watch.ts";
import { measure } from "./alerts/measure.ts";
import { AttemptBudget } from "./api/access/attempt-budget.ts";
import { AuditTrail } from "./api/access/audit-trail.ts";
import { REMEMBERED_MS } from "./api/access/idempotency.ts";
import { LoginTokens } from "./api/access/login-tokens.ts";
import { type OidcRoutesParts, openOidc, registerOidcRoutes } from "./api/access/oidc.ts";
import type { AccessRules } from "./api/access/rest-access.ts";
import { Sessions } from "./api/access/sessions.ts";
import { registerDashboardFiles } from "./api/dashboard-files.ts";
import { registerHealthRoutes } from "./api/health-routes.ts";
import { environmentUuid } from "./api/inngest/answers.ts";
import { registerPeerApi } from "./api/inngest/peer-api.ts";
import { listenForMetrics, type MetricsListener, registerMetricsRoute } from "./api/metrics-route.ts";
import { registerRealtimeRoutes } from "./api/realtime/realtime-routes.ts";
import { RealtimeTokens } from "./api/realtime/tokens.ts";
import { registerRestApi } from "./api/rest-api.ts";
import { registerSdkRoutes } from "./api/sdk/sdk-routes.ts";
import { StreamSlots } from "./api/streams/stream-slots.ts";
import { bootstrap, defaultEnvironmentOf, type NewKey } from "./bootstrap.ts";
import { Catalogue } from "./catalogue/catalogue.ts";
import { ShapeObserver } from "./catalogue/shape-observer.ts";
import { compareShapes } from "./compare-shapes.ts";
import type { Config } from "./config/config.ts";
import type { ListenAddress } from "./config/readings.ts";
import { createDedupWindow } from "./deduplicate/dedup-window.ts";
import { describeRetention, diskBudgetBytes } from "./disk-budget.ts";
import { createEventLife } from "./event-life.ts";
import { AppAddresses } from "./execute/call/app-addresses.ts";
import { AppCaller } from "./execute/call/call-app.ts";
import { systemClock } from "./execute/clock.ts";
import { waitRules } from "./fan-out/waits.ts";
import { compileWhere } from "./fan-out/where.ts";
import { createFunctions } from "./functions.ts";
import { createHttpServer } from "./http-server.ts";
import { JobRunner } from "./jobs/job-runner.ts";
import { createJobs } from "./jobs/jobs.ts";
import { cancelRuns } from "./jobs/kinds/cancel-runs.ts";
import { eraseEvents } from "./jobs/kinds/erase-events.ts";
import { replayEvents } from "./jobs/kinds/replay-events.ts";
import { replayRequests } from "./jobs/kinds/replay-requests.ts";
import { rerunRuns } from "./jobs/kinds/rerun-runs.ts";
import { createProofKeeper, readProofs } from "./kept-proofs.ts";
import { expireDedupKeys } from "./maintenance/expire-dedup-keys.ts";
import { expireEvents } from "./maintenance/expire-events.ts";
import { expireFigures } from "./maintenance/expire-figures.ts";
import { expireIdempotencyKeys } from "./maintenance/expire-idempotency-keys.ts";
import { expireJobs } from "./maintenance/expire-jobs.ts";
import { expireMarks } from "./maintenance/expire-marks.ts";
import { expireProofs } from "./maintenance/expire-proofs.ts";
import { expireRuns } from "./maintenance/expire-runs.ts";
import { expireSessions } from "./maintenance/expire-sessions.ts";
import { expireWebhookRequests } from "./maintenance/expire-webhook-requests.ts";
import { forgetLanes } from "./maintenance/forget-lanes.ts";
import { keepDiskBudget } from "./maintenance/keep-disk-budget.ts";
import { createKeptScopes } from "./maintenance/retention-rules.ts";
import { createSweepTurns } from "./maintenance/sweep-turns.ts";
import { tendStore } from "./maintenance/tend-store.ts";
import { EventTypeCounter } from "./observe/event-type-counter.ts";
import { createLiveLog } from "./observe/live-log.ts";
import { Metrics } from "./observe/metrics/metrics.ts";
import { QueueHistory } from "./observe/queue-history.ts";
import { RefusalLog } from "./observe/refusal-log.ts";
import { Traffic } from "./observe/traffic.ts";
import { raiseDrift } from "./raise-drift.ts";
import { BodyBudget } from "./receive/bodies/body-budget.ts";
import { createClientIp, createProxyCheck } from "./receive/connections/client-ip.ts";
import { createDevGuard } from "./receive/connections/dev-guard.ts";
import type { ConnectionRules } from "./receive/connections/guard-connections.ts";
import type { Accepted, Answered } from "./receive/inbound-request.ts";
import { bodyOf, replayRequest, wasVerified } from "./receive/replay-request.ts";
import { Directory } from "./receive/senders/directory.ts";
import { isIpRange } from "./receive/senders/ip-list.ts";
import { issueKey, issueWebhookToken } from "./receive/senders/issue-key.ts";
import { StartRefused } from "./start-refused.ts";
import type { CommitFigures, Environment, EventSource, Store, StoreTopic, Webhook, WebhookRequest } from "./store/contract/index.ts";
import { openSqliteStore } from "./store/sqlite/sqlite-store.ts";
import { completeVerify, createTransformRunner, readProviderTemplates, tryTransform, verifySettingFault } from "./transform/index.ts";
import { trialOf } from "./trial-of.ts";

const IDLE_CHECK_MS = 20;
const WHERE_MODULE = new URL("./fan-out/where.ts", import.meta.url);
/** Senders that were given a wrong key go on sending, many of them from one address: they are told so for longer than a person who signs in. */
const SENDER_LIMITS = { failuresMax: 100, forgivenEveryMs: 1_000 };
const DASHBOARD_FOLDER = fileURLToPath(new URL("../../dashboard/dist", import.meta.url));

export interface Service {
  /** Where it listens, `http://127.0.0.1:8288`. */
  url: string;
  /** Where metrics are open, if an address of their own was set. */
  metricsUrl: string | null;
  /** What is kept for how long, in one sentence. */
  retentionNotice: string;
  /** Keys made by this start, to be shown once. */
  newKeys: NewKey[];
  /** The token of a link that signs in to the dashboard once, for a quarter of an hour. */
  issueLoginToken(): string;
  /** Stops accepting, waits for what is in flight (bounded), lets go of the store. Idempotent. */
  stop(): Promise<void>;
}

export interface ServiceSurroundings {
  log: Logger;
  /** Shows a line of the live log; absent: there is none. */
  showLine?: (line: string) => void;
  now?: () => number;
}

export async function startService(config: Config, { log, now, showLine }: ServiceSurroundings): Promise<Service> {
  const options = {
    rules: waitRules,
    onFault: (reason: string) => log.error({ reason }, "the store cannot be written: requests are refused with 503 until it can"),
    onRecovery: () => log.info("the store can be written again"),
    version: packageFile.version,
    onCommitted: (figures: CommitFigures) => metrics?.committed(figures),
    encryptionKeys: config.encryptionKey,
  };
  let metrics: Metrics | null = null;
  const openShared = async (url: string) => {
    // Who keeps to the embedded store does not wait for the client of PostgreSQL to load.
    const { openPostgresStore } = await import("./store/postgres/postgres-store.ts");
    return openPostgresStore({
      ...options,
      compileWhere,
      url,
      listenUrl: config.databaseListenUrl ?? url,
      connectionsMax: config.databaseConnections,
    });
  };
  const store = config.databaseUrl
    ? await openShared(config.databaseUrl)
    : openSqliteStore({ ...options, whereModule: WHERE_MODULE, folder: config.dataDir });
  try {
    return await serve(config, store, { log, now: now ?? store.storeNow, ...(showLine && { showLine }) }, (made) => (metrics = made));
  } catch (error) {
    await store.stop();
    throw error;
  }
}

async function serve(
  config: Config,
  store: Store,
  { log, now, showLine }: ServiceSurroundings & { now: () => number },
  useMetrics: (metrics: Metrics) => void,
): Promise<Service> {
  const oidc = await connectOidc(config);
  const newKeys = await bootstrap(store, config, log, now);
  const directory = new Directory(store);
  await directory.refresh();

  const draining = new AbortController();
  const isDraining = () => draining.signal.aborted;
  const defaultEnvironment = defaultEnvironmentOf(config);
  const dedupWindow = createDedupWindow(config.dedupWindow);
  const refusals = new RefusalLog(log);
  const traffic = new Traffic({ store, log, now });
  const eventTypeCounter = new EventTypeCounter({ store, log });
  const catalogue = new Catalogue({ store, directory, log, now });
  await catalogue.refresh();
  const shapes = new ShapeObserver({ store, log, onDrift: (...drift) => raiseDrift({ store, functions, ids, now }, ...drift) });
  const metrics: Metrics = new Metrics({
    store,
    environmentName: (id) => directory.environment(id)?.name ?? String(id),
    functionId: (no) => functions.functionId(no),
    waitingSince: () => functions.functionsWaitingSince(),
    now,
  });
  useMetrics(metrics);
  const queueHistory = new QueueHistory({ store, waitingSince: () => functions.waitingSince(), log, now });
  const swept = { store, log, turns: createSweepTurns(store, now) };
  const installation = { eventsMs: config.eventRetention, runsMs: config.runRetention, requestsMs: config.requestRetention };
  const kept = createKeptScopes({ store, installation, now });
  const budgetBytes = await diskBudgetBytes(config, store);
  const upkeep = [
    expireDedupKeys({ ...swept, seenUntil: () => dedupWindow.duplicateSince(now()) }),
    expireWebhookRequests({ ...swept, now, scopes: kept.requests }),
    tendStore({ ...swept, now, longestKept: kept.longest }),
    expireEvents({ ...swept, now, scopes: kept.events }),
    expireRuns({ ...swept, now, scopes: kept.runs }),
    ...(budgetBytes === null ? [] : [keepDiskBudget({ ...swept, now, budgetBytes })]),
    expireProofs({ ...swept, now }),
    expireSessions({ ...swept, now }),
    expireIdempotencyKeys({ ...swept, startedUntil: () => now() - REMEMBERED_MS }),
    expireFigures({ ...swept, now }),
    expireMarks({ ...swept, now }),
    expireJobs({ ...swept, now }),
    forgetLanes({ ...swept }),
    traffic,
    eventTypeCounter,
    catalogue,
    shapes,
    queueHistory,
    metrics,
  ];

  const transforms = createTransformRunner({
    limits: { timeoutMs: config.transformTimeout, memoryBytes: config.transformMemory, resultBytesMax: config.bodyLimit },
  });
  const ids = createEventIdGenerator();
  const environmentShown = (id: Environment["id"]) => shownUnless(defaultEnvironment, directory.environment(id)?.name);
  const liveLog = showLine ? createLiveLog({ environmentShown, write: showLine, now }) : null;
  const functions = createFunctions({
    ...{ config, store, directory, dedupWindow, eventIds: ids, defaultEnvironment, liveLog, traffic, metrics, log },
    clock: systemClock(now),
    caller: new AppCaller({
      timeoutMs: config.callTimeout,
      connectionsMax: config.appCalls,
      addresses: new AppAddresses(config.appAddresses),
    }),
    signingKey: () => (config.mode === "dev" ? null : newestSigningKey(directory)),
  });
  const keep = createProofKeeper({ store, workingKey: (id) => directory.workingKey(id), log, now });
  const proofs = await readProofs(store);
  const attempts = new AttemptBudget({ now, keep });
  const senderAttempts = new AttemptBudget({ now, keep, limits: SENDER_LIMITS });
  for (const budget of [attempts, senderAttempts]) budget.restore(proofs);
  const receive = createEventLife({
    directory,
    functions,
    transforms,
    publicUrl: config.publicUrl,
    maskedHeaders: new Set(config.maskHeaders.map((name) => name.toLowerCase())),
    senders: { directory, placeholderEnvironment: config.mode === "dev" ? defaultEnvironment : null, attempts: senderAttempts },
    bodyBytesMax: config.bodyLimit,
    catalogue,
    dedupWindow,
    store,
    refusals,
    traffic,
    metrics,
    defaultEnvironment,
    liveLog,
    eventIds: ids,
    now,
  });

  const replay = (record: WebhookRequest, webhook: Webhook, seed?: string) =>
    replayRequest(receive, record, webhook.token, seed) as Promise<Accepted | Answered | Refusal>;
  const sourceName = (source: EventSource) =>
    source.kind === "function" ? functions.functionName(source.id) : directory.sourceName(source);
  const { runs, jobStarts } = functions;
  const jobKinds = [
    replayEvents({ store, sourceName, ...jobStarts }),
    rerunRuns({ store, runs, ...jobStarts }),
    eraseEvents({ store, sourceName, cancel: functions.cancelRun }),
    cancelRuns({ store, runs, cancel: runs.cancel }),
    replayRequests({ store, replay, webhooks: () => directory.webhooks(), environmentName: (id) => directory.environment(id)?.name ?? "" }),
  ];
  const environmentName = (id: Environment["id"]) => directory.environment(id)?.name ?? null;
  const measured = { store, now, functionNos: functions.functionNos, webhooks: () => directory.webhooks() };
  const alertTurn = { work: "alerts", node: store.storeNode };
  const alerts = new AlertWatch({
    ...{ store, log, now, environmentName, emit: functions.emit, measure: (rule) => measure(measured, rule) },
    takeTurn: (forMs) => store.turnTake({ ...alertTurn, now: now(), until: now() + forMs }),
  });
  const jobRunner = new JobRunner({ store, kinds: jobKinds, log, now });
  const newJobId = () => ids.next(now()) as string as JobId;
  const jobs = createJobs({ store, kinds: jobKinds, rate: config.jobRate, newId: newJobId, wake: () => jobRunner.wake(), now });

  const loginTokens = new LoginTokens(now);
  const trials = { directory, publicUrl: config.publicUrl, now };
  const budget = new BodyBudget(config.queueLimit);
  const clientIp = createClientIp(config.trustProxy);
  const guard =
    config.mode === "dev"
      ? createDevGuard({ loopbackOnly: isLoopback(config.host), publicUrl: config.publicUrl, allowedOrigins: config.allowOrigin })
      : null;
  const isProxy = createProxyCheck(config.trustProxy);
  const hasHandshake = (keyText: string) => directory.webhookWithToken(keyText)?.webhook.handshake != null;
  const connections: ConnectionRules = {
    firstByteMs: config.firstByteTimeout,
    stallMs: config.stallTimeout,
    connectionsMax: config.addressConnections,
    isProxy,
    log,
  };
  const app = createHttpServer({ receive, hasHandshake, budget, clientIp, log, isDraining, guard, connections }, config.trustProxy, log);
  registerHealthRoutes(app, { store, isDraining, now });
  const audit = new AuditTrail(store, log, now);
  registerSdkRoutes(app, {
    isDev: config.mode === "dev",
    version: packageFile.version,
    attempts,
    signingKeyOf: (bearer) => directory.signingKeyOf(bearer),
    sdk: functions.sdk,
    audit,
  });
  const access: AccessRules = {
    directory,
    open: config.mode === "dev",
    publicUrl: config.publicUrl,
    defaultEnvironment,
    attempts,
    sessions: new Sessions({ store, workingKey: (id) => directory.workingKey(id), newId: () => ids.next(now()), log, now }),
  };
  registerMetricsRoute(app, { metrics, access });
  registerOidcRoutes(app, { oidc, access, audit, address: { publicUrl: config.publicUrl, isProxy } });
  const devSecret = randomBytes(32).toString("hex");
  registerRealtimeRoutes(app, {
    isDev: config.mode === "dev",
    signingKeyOf: (bearer) => directory.signingKeyOf(bearer),
    tokens: new RealtimeTokens({ secrets: () => (config.mode === "dev" ? [devSecret] : directory.signingKeys()), now }),
    environmentNamed: (name) => directory.environmentNamed(name),
    drained: draining.signal,
    ...{ environmentUuid, defaultEnvironment, attempts, store, now },
  });
  registerPeerApi(app, {
    ...functions.inngest,
    isDev: config.mode === "dev",
    isApiKey: (text) => directory.key("api", text) !== null,
    signingKeyOf: (bearer) => directory.signingKeyOf(bearer),
    environmentNamed: (name) => directory.environmentNamed(name),
    cancel: (run) => functions.runs.cancel(run),
    newId: () => ids.next(now()),
    ...{ defaultEnvironment, attempts, audit, store, log, now },
  });
  registerRestApi(app, {
    runs,
    jobs,
    signals: functions.signals,
    registry: functions.registry,
    access,
    loginTokens,
    audit,
    store,
    directory,
    sourceName,
    drained: draining.signal,
    slots: new StreamSlots(),
    issueKey,
    issueWebhookToken,
    isIpRange,
    newId: () => ids.next(now()),
    publicUrl: config.publicUrl,
    isProxy,
    version: packageFile.version,
    checkTransform: async (source, entry) => {
      const checked = await transforms.check(source, entry);
      return checked.ok ? null : checked;
    },
    completeVerify,
    verifySettingFault,
    tryTransform: (request) => tryTransform(transforms, trialOf(request, trials), { bytesMax: config.bodyLimit }),
    wasVerified,
    providerTemplates: readProviderTemplates,
    bodyOf,
    replay,
    traffic,
    eventTypeCounter,
    catalogue,
    shapes,
    compareShapes,
    subscribersOf: functions.subscribersOf,
    queueHistory,
    log,
    now,
  });
  registerDashboardFiles(app, DASHBOARD_FOLDER);
  const stopFollowing = followChanges(store, { directory, registry: functions.registry, catalogue }, log);
  await functions.open();
  await app.listen({ port: config.port, host: config.host });
  const metricsListener = config.metricsListen && (await openMetrics(config.metricsListen, metrics, app));
  if (metricsListener) log.info(`metrics on ${metricsListener.url}`);
  await functions.start((app.server.address() as AddressInfo).port);
  for (const part of upkeep) part.start();
  jobRunner.start();
  alerts.start();

  let stopped: Promise<void> | null = null;
  async function stop(): Promise<void> {
    draining.abort();
    await Promise.all([jobRunner.stop(), alerts.stop()]);
    // Apps that are being called still send events and hand in results: HTTP is closed when their calls have ended.
    await functions.stop();
    stopFollowing();
    await closeWithin(app, config.drainTimeout);
    await Promise.all([...upkeep.map((part) => part.stop()), transforms.stop(), metricsListener?.stop()]);
    refusals.stop();
    await store.stop();
  }
  const metricsUrl = metricsListener?.url ?? null;
  const retentionNotice = describeRetention(config, budgetBytes);
  return {
    url: urlOf(app),
    metricsUrl,
    retentionNotice,
    newKeys,
    issueLoginToken: () => loginTokens.issue(),
    stop: () => (stopped ??= stop()),
  };
}

async function connectOidc(config: Config): Promise<OidcRoutesParts["oidc"]> {
  const { oidcIssuer: issuer, oidcClientId: clientId, oidcClientSecret: clientSecret, oidcRoles: roles } = config;
  if (issuer === null) return null;
  if (clientId === null) throw new StartRefused("--oidc-issuer needs --oidc-client-id as well");
  if (roles.length === 0) throw new StartRefused("--oidc-issuer needs --oidc-roles as well: without it nobody has a role");
  const settings = { issuer, clientId, clientSecret, roles };
  try {
    return { settings, provider: await openOidc(settings) };
  } catch (error) {
    const reason = (error as { cause?: { message?: string } }).cause?.message ?? (error as Error).message;
    throw new StartRefused(`the OpenID Connect issuer ${issuer} cannot be reached, see --oidc-issuer: ${reason}`, error);
  }
}

async function openMetrics(address: ListenAddress, metrics: Metrics, app: FastifyInstance): Promise<MetricsListener> {
  try {
    return await listenForMetrics(address, metrics);
  } catch (error) {
    await app.close();
    throw new StartRefused(`cannot listen on ${address.host}:${address.port}, see --metrics-listen: ${(error as Error).message}`, error);
  }
}

/** What another node changed holds here within a moment. */
function followChanges(store: Store, kept: Record<StoreTopic, { refresh(): Promise<void> }>, log: Logger): () => void {
  return store.storeWatch((topic) => {
    kept[topic]
      .refresh()
      .catch((error) => log.warn({ err: error, topic }, "what another node changed could not be read; it is read again soon"));
  });
}

function newestSigningKey(directory: Directory): string {
  const newest = directory.signingKeys().at(-1);
  if (newest === undefined) throw new Error("there is no signing key: calls to apps cannot be signed");
  return newest;
}

function shownUnless(usual: string, name: string | undefined): string | null {
  return name === undefined || name === usual ? null : name;
}

/** New connections are refused at once; requests in flight may finish until the time is up. */
async function closeWithin(app: FastifyInstance, timeoutMs: number): Promise<void> {
  const cut = setTimeout(() => app.server.closeAllConnections(), timeoutMs);
  // A connection that was busy a moment ago is idle now, and would be kept for the next request.
  const closeIdle = setInterval(() => app.server.closeIdleConnections(), IDLE_CHECK_MS);
  await app.close();
  clearTimeout(cut);
  clearInterval(closeIdle);
}

/** Whether only this machine can reach a server that listens there. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(?:\.\d{1,3}){3}$/.test(host);
}

function urlOf(app: FastifyInstance): string {
  const { address, family, port } = app.server.address() as AddressInfo;
  return `http://${family === "IPv6" ? `[${address}]` : address}:${port}`;
}
