/** The composition root: makes every part, connects them, starts and stops them in order. */

import type { AddressInfo } from "node:net";
import { createEventIdGenerator, type Refusal } from "@inlet/protocol";
import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import packageFile from "../package.json" with { type: "json" };
import { AttemptBudget } from "./api/access/attempt-budget.ts";
import { LoginTokens } from "./api/access/login-tokens.ts";
import { listenForMetrics, type MetricsListener } from "./api/metrics-route.ts";
import { bootstrap, defaultEnvironmentOf, type NewKey } from "./bootstrap.ts";
import { Catalogue } from "./catalogue/catalogue.ts";
import { ShapeObserver } from "./catalogue/shape-observer.ts";
import type { Config } from "./config/config.ts";
import type { ListenAddress } from "./config/readings.ts";
import { createDedupWindow } from "./deduplicate/dedup-window.ts";
import { describeRetention, diskBudgetBytes } from "./disk-budget.ts";
import { createEventLife, type EventLife } from "./event-life.ts";
import { AppAddresses } from "./execute/call/app-addresses.ts";
import { AppCaller } from "./execute/call/call-app.ts";
import { systemClock } from "./execute/clock.ts";
import { createFunctions } from "./functions.ts";
import { createHttpServer } from "./http-server.ts";
import { createProofKeeper, readProofs } from "./kept-proofs.ts";
import { createEventTypeCounter } from "./observe/event-type-counter.ts";
import { createLiveLog } from "./observe/live-log.ts";
import { Metrics } from "./observe/metrics/metrics.ts";
import { QueueHistory } from "./observe/queue-history.ts";
import { RefusalLog } from "./observe/refusal-log.ts";
import type { Telemetry } from "./observe/telemetry/open-telemetry.ts";
import type { TelemetrySettings } from "./observe/telemetry/telemetry-settings.ts";
import { Traffic } from "./observe/traffic.ts";
import { raiseDrift } from "./raise-drift.ts";
import { BodyBudget } from "./receive/bodies/body-budget.ts";
import { createClientIp, createProxyCheck } from "./receive/connections/client-ip.ts";
import { createDevGuard } from "./receive/connections/dev-guard.ts";
import type { Accepted, Answered } from "./receive/inbound-request.ts";
import { replayRequest } from "./receive/replay-request.ts";
import { Directory } from "./receive/senders/directory.ts";
import { connectOidc } from "./service/connect-oidc.ts";
import { registerHttpRoutes } from "./service/http-routes.ts";
import { openStore } from "./service/open-store.ts";
import { createRepair } from "./service/repair.ts";
import { createUpkeep } from "./service/upkeep.ts";
import { StartRefused } from "./start-refused.ts";
import type { Environment, EventSource, Store, StoreTopic, Webhook, WebhookRequest } from "./store/contract/index.ts";
import { createTransformRunner } from "./transform/index.ts";

const IDLE_CHECK_MS = 20;
/** Senders that were given a wrong key go on sending, many of them from one address: they are told so for longer than a person who signs in. */
const SENDER_LIMITS = { failuresMax: 100, forgivenEveryMs: 1_000 };

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
  /** What is exported by OTLP; absent or null: nothing. */
  telemetry?: TelemetrySettings | null;
  /** Shows a line of the live log; absent: there is none. */
  showLine?: (line: string) => void;
  now?: () => number;
}

export async function startService(config: Config, { now, ...surroundings }: ServiceSurroundings): Promise<Service> {
  const observed: { metrics?: Metrics } = {};
  const store = await openStore(config, surroundings.log, (figures) => observed.metrics?.committed(figures));
  try {
    return await serve(config, store, { ...surroundings, now: now ?? store.storeNow }, observed);
  } catch (error) {
    await store.stop();
    throw error;
  }
}

async function serve(
  config: Config,
  store: Store,
  { log, telemetry: exported = null, now, showLine }: ServiceSurroundings & { now: () => number },
  observed: { metrics?: Metrics },
): Promise<Service> {
  const oidc = await connectOidc(config);
  const newKeys = await bootstrap(store, config, log, now);
  const directory = new Directory(store);
  await directory.refresh();

  const draining = new AbortController();
  const defaultEnvironment = defaultEnvironmentOf(config);
  const dedupWindow = createDedupWindow(config.dedupWindow);
  const ids = createEventIdGenerator();
  const refusals = new RefusalLog(log);
  const traffic = new Traffic({ store, log, now });
  const eventTypeCounter = createEventTypeCounter({ store, log });
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
  observed.metrics = metrics;
  const telemetry = exported && (await loadTelemetry(exported, metrics, log));
  const tracing = telemetry?.tracing ?? null;
  const queueHistory = new QueueHistory({ store, waitingSince: () => functions.waitingSince(), log, now });
  const budgetBytes = await diskBudgetBytes(config, store);

  const transforms = createTransformRunner({
    limits: { timeoutMs: config.transformTimeout, memoryBytes: config.transformMemory, resultBytesMax: config.bodyLimit },
  });
  const environmentShown = (id: Environment["id"]) => shownUnless(defaultEnvironment, directory.environment(id)?.name);
  const liveLog = showLine ? createLiveLog({ environmentShown, write: showLine, now }) : null;
  const functions = createFunctions({
    ...{ config, store, directory, dedupWindow, eventIds: ids, defaultEnvironment, liveLog, traffic, metrics, tracing, log },
    clock: systemClock(now),
    caller: new AppCaller({
      timeoutMs: config.callTimeout,
      connectionsMax: config.appCalls,
      addresses: new AppAddresses(config.appAddresses),
    }),
    signingKeys: () => (config.mode === "dev" ? [] : newestFirst(directory.signingKeys())),
  });
  const keep = createProofKeeper({ store, workingKey: (id) => directory.workingKey(id), log, now });
  const proofs = await readProofs(store);
  const attempts = new AttemptBudget({ now, keep });
  const senderAttempts = new AttemptBudget({ now, keep, limits: SENDER_LIMITS });
  for (const budget of [attempts, senderAttempts]) budget.restore(proofs);
  const receive = createEventLife({
    ...{ directory, functions, transforms, catalogue, dedupWindow, store, refusals, traffic, metrics, defaultEnvironment, liveLog, now },
    publicUrl: config.publicUrl,
    maskedHeaders: new Set(config.maskHeaders.map((name) => name.toLowerCase())),
    senders: { directory, placeholderEnvironment: config.mode === "dev" ? defaultEnvironment : null, attempts: senderAttempts },
    bodyBytesMax: config.bodyLimit,
    tracing,
    eventIds: ids,
  });

  const replay = (record: WebhookRequest, webhook: Webhook, seed?: string) =>
    replayRequest(receive, record, webhook.token, seed) as Promise<Accepted | Answered | Refusal>;
  const sourceName = (source: EventSource) =>
    source.kind === "function" ? functions.functionName(source.id) : directory.sourceName(source);
  const repair = createRepair({ ...{ store, directory, functions, replay, sourceName, ids, log, now }, jobRate: config.jobRate });
  const upkeep = [
    ...createUpkeep({ config, store, dedupWindow, budgetBytes, log, now }),
    ...[traffic, eventTypeCounter, catalogue, shapes, queueHistory, metrics],
  ];

  const loginTokens = new LoginTokens(now);
  const app = openHttp({ config, directory, receive, isDraining: () => draining.signal.aborted, log });
  registerHttpRoutes(app, {
    ...{ config, store, directory, functions, transforms, metrics, traffic, eventTypeCounter, catalogue, shapes, queueHistory },
    ...{ jobs: repair.jobs, sourceName, replay, attempts, loginTokens, oidc, defaultEnvironment, ids, log, now },
    drained: draining.signal,
  });
  const stopFollowing = followChanges(store, { directory, registry: functions.registry, catalogue }, log);
  await functions.open();
  await app.listen({ port: config.port, host: config.host });
  const metricsListener = config.metricsListen && (await openMetrics(config.metricsListen, metrics, app));
  if (metricsListener) log.info(`metrics on ${metricsListener.url}`);
  await functions.start((app.server.address() as AddressInfo).port);
  for (const part of [...upkeep, ...repair.work]) part.start();

  let stopped: Promise<void> | null = null;
  async function stop(): Promise<void> {
    draining.abort();
    await Promise.all(repair.work.map((part) => part.stop()));
    // Apps that are being called still send events and hand in results: HTTP is closed when their calls have ended.
    await functions.stop();
    stopFollowing();
    await closeWithin(app, config.drainTimeout);
    await Promise.all([...upkeep.map((part) => part.stop()), transforms.stop(), metricsListener?.stop()]);
    refusals.stop();
    // The last export of metrics reads the store.
    await telemetry?.stop();
    await store.stop();
  }
  return {
    url: urlOf(app),
    metricsUrl: metricsListener?.url ?? null,
    retentionNotice: describeRetention(config, budgetBytes),
    newKeys,
    issueLoginToken: () => loginTokens.issue(),
    stop: () => (stopped ??= stop()),
  };
}

interface HttpParts {
  config: Config;
  directory: Directory;
  receive: EventLife;
  isDraining: () => boolean;
  log: Logger;
}

/** The server with the entrances of events. */
function openHttp({ config, directory, receive, isDraining, log }: HttpParts): FastifyInstance {
  const guard =
    config.mode === "dev"
      ? createDevGuard({ loopbackOnly: isLoopback(config.host), publicUrl: config.publicUrl, allowedOrigins: config.allowOrigin })
      : null;
  const edge = {
    ...{ receive, log, isDraining, guard },
    hasHandshake: (keyText: string) => directory.webhookWithToken(keyText)?.webhook.handshake != null,
    budget: new BodyBudget(config.queueLimit),
    clientIp: createClientIp(config.trustProxy),
    connections: {
      firstByteMs: config.firstByteTimeout,
      stallMs: config.stallTimeout,
      connectionsMax: config.addressConnections,
      isProxy: createProxyCheck(config.trustProxy),
      log,
    },
  };
  return createHttpServer(edge, config.trustProxy, log);
}

/** Who exports nothing does not load the packages for it. */
async function loadTelemetry(settings: TelemetrySettings, metrics: Metrics, log: Logger): Promise<Telemetry> {
  const { openTelemetry } = await import("./observe/telemetry/open-telemetry.ts");
  return openTelemetry(settings, { metrics, version: packageFile.version, log });
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

function newestFirst(signingKeys: readonly string[]): string[] {
  if (signingKeys.length === 0) throw new Error("there is no signing key: calls to apps cannot be signed");
  return signingKeys.toReversed();
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
