/**
 * One process of the service: the store of a folder, functions.ts over it, and the edge at which apps and senders reach it. It can be stopped in order, or killed: then it does nothing more, and what it leaves is what a copy of its files holds.
 */

import { createEventIdGenerator, type EnvironmentId } from "@inlet/protocol";
import { type Logger, pino } from "pino";
import type { AlertWatch } from "../../src/alerts/alert-watch.ts";
import type { JobsPart } from "../../src/api/jobs/read-job-request.ts";
import { Subscribers } from "../../src/api/realtime/subscribers.ts";
import { Catalogue } from "../../src/catalogue/catalogue.ts";
import { createDedupWindow } from "../../src/deduplicate/dedup-window.ts";
import { createDrill } from "../../src/flows/drill/drill-webhook.ts";
import { createEventLife, webhookLifeParts } from "../../src/flows/event-life.ts";
import { EventMirror } from "../../src/flows/mirror-events.ts";
import { createItemIntake } from "../../src/flows/reconcile-item.ts";
import type { ReconcileOrders } from "../../src/jobs/reconcile-orders.ts";
import { MoveEnvironments } from "../../src/maintenance/move-environments.ts";
import { Activity } from "../../src/observe/activity.ts";
import { RefusalLog } from "../../src/observe/refusal-log.ts";
import { Traffic } from "../../src/observe/traffic.ts";
import { Usage } from "../../src/observe/usage.ts";
import { QuotaLedger } from "../../src/receive/quotas/quota-ledger.ts";
import { replayRequest } from "../../src/receive/replay-request.ts";
import { Directory } from "../../src/receive/senders/directory.ts";
import type { ListedItem } from "../../src/reconcile/listed-item.ts";
import { bootstrap, defaultEnvironmentOf } from "../../src/service/bootstrap.ts";
import { ChangeFollower } from "../../src/service/follow-changes.ts";
import { createFunctions, type Functions } from "../../src/service/functions.ts";
import type { BackgroundService } from "../../src/service/maintenance.ts";
import type { Receiving } from "../../src/service/receiving.ts";
import { createSigning } from "../../src/service/signing.ts";
import type { Environment, Store } from "../../src/store/contract/index.ts";
import type { TransformRunner } from "../../src/transform/index.ts";
import { createSimAlerts } from "./alerts.ts";
import type { EdgeResponse } from "./apps/own-app.ts";
import { Edge } from "./edge.ts";
import { createSimJobs, type SimJobs } from "./jobs.ts";
import { createSimMaintenance } from "./maintenance.ts";
import type { SimCaller } from "./network.ts";
import { configOf } from "./process-settings.ts";
import type { Removals } from "./removals.ts";
import { type CommittedSteps, type TapParts, tapStore } from "./store-tap.ts";
import { createTransforms } from "./transforms.ts";
import { after, type Life, lives, now } from "./virtual-time.ts";

export interface ProcessParts {
  openStore(): Promise<Store>;
  caller: SimCaller;
  callTimeoutMs: number;
  writeMs: number;
  isRealTime: boolean;
  /** Looks for jobs, again and again. */
  hasJobs: boolean;
  /** Looks for events to be mirrored, again and again. */
  hasMirrors: boolean;
  /** Evaluates alert rules, again and again. */
  hasAlerts: boolean;
  /** Works on moves of environments, again and again. */
  hasMoves: boolean;
  /** What the provider of the webhook lists. */
  listed: readonly ListedItem[];
  /** How often old data is removed; null: it is not. */
  sweepMs: number | null;
  removals: Removals;
  /** Null: the default. */
  leaseMs: number | null;
  /** Null: by the backoff table. */
  retryMs: number | null;
  committed: CommittedSteps;
  isRefusing(): boolean;
  stallMs(): number;
  onLog(line: string): void;
  trace: TapParts["trace"];
}

type ReplayRequest = Receiving["replay"];

/** What operators reach of a process. */
export interface Operated {
  functions: Functions;
  store: Store;
  environment: Environment;
  directory: Directory;
  jobs: JobsPart;
  reconciliation: ReconcileOrders;
  replay: ReplayRequest;
  alerts: AlertWatch;
  subscribers: Subscribers;
  isDead(): boolean;
  catalogue: Catalogue;
}

export class SimProcess {
  readonly life: Life = { isDead: false };
  readonly store: Store;
  readonly functions: Functions;
  readonly #directory: Directory;
  readonly #catalogue: Catalogue;
  readonly #edge: Edge;
  readonly #tapped: Store;
  readonly #jobs: SimJobs;
  readonly #mirror: EventMirror;
  readonly #subscribers: Subscribers;
  readonly #quotas: QuotaLedger;
  readonly #transforms: TransformRunner;
  readonly #replay: ReplayRequest;
  readonly #alerts: AlertWatch;
  readonly #upkeep: readonly BackgroundService[];
  readonly #environment: string;
  readonly #log: Logger;
  #isOpen = true;

  static async start(parts: ProcessParts): Promise<SimProcess> {
    const life: Life = { isDead: false };
    return lives.run(life, async () => {
      const store = await parts.openStore();
      // What goes wrong while it starts is not simulated: the process would be started again until it works.
      let isUp = false;
      const tapped = tapStore({
        store,
        life,
        committed: parts.committed,
        isRefusing: () => isUp && parts.isRefusing(),
        stallMs: parts.stallMs,
        writeMs: parts.writeMs,
        removals: parts.removals,
        trace: parts.trace,
      });
      const process = new SimProcess(life, store, tapped, parts);
      const createKeys = await bootstrap(tapped, configOf(parts), process.#log, now);
      await createKeys();
      const changes = new ChangeFollower(tapped, process.#log);
      changes.follow("directory", process.#directory);
      changes.follow("catalogue", process.#catalogue);
      changes.follow("registry", process.functions.registry);
      await process.#directory.refresh();
      await process.#catalogue.refresh();
      await process.#quotas.load();
      process.#quotas.start();
      await process.functions.open();
      await process.functions.start(0);
      if (parts.hasJobs) process.#jobs.runner.start();
      if (parts.hasMirrors) process.#mirror.start();
      for (const part of process.#upkeep) part.start();
      isUp = true;
      return process;
    });
  }

  private constructor(life: Life, store: Store, tapped: Store, parts: ProcessParts) {
    const config = configOf(parts);
    const log = pino({ level: "warn" }, { write: (line: string) => parts.onLog(line) });
    const defaultEnvironment = defaultEnvironmentOf(config);
    const traffic = new Traffic({ store: tapped, log, now });
    const activity = new Activity({ store: tapped, log, now });
    const usage = new Usage({ store: tapped, log, now });
    const eventIds = createEventIdGenerator();
    const directory = new Directory(tapped);
    const catalogue = new Catalogue({ store: tapped, directory, log, now });
    const functions = createFunctions({
      config,
      store: tapped,
      directory,
      eventIds,
      defaultEnvironment,
      liveLog: null,
      metrics: null,
      tracing: null,
      activity,
      usage,
      log,
      caller: parts.caller,
      dedupWindow: createDedupWindow(config.dedupWindow),
      clock: { now, after },
      signing: createSigning({ directory, isDev: false }),
    });
    this.#log = log;
    this.#transforms = createTransforms(parts.isRealTime);
    this.life = life;
    this.store = store;
    this.#tapped = tapped;
    this.#alerts = createSimAlerts({ store: tapped, functions, directory, log, isRealTime: parts.isRealTime });
    this.#upkeep = [
      ...(parts.hasAlerts ? [this.#alerts] : []),
      ...(parts.sweepMs === null ? [] : createSimMaintenance({ config, store: tapped, functions, log, everyMs: parts.sweepMs })),
      ...(parts.hasMoves ? [new MoveEnvironments({ store: tapped, log, now })] : []),
    ];
    this.functions = functions;
    this.#directory = directory;
    this.#catalogue = catalogue;
    this.#environment = defaultEnvironment;
    const dedupWindow = createDedupWindow(config.dedupWindow);
    this.#quotas = new QuotaLedger({ store: tapped, directory, log, now });
    const isMirroring = () => directory.webhooks().some(({ mirror }) => mirror !== null);
    const environmentName = (id: EnvironmentId) => directory.environment(id)?.name ?? String(id);
    const mirrored = { store: tapped, functions, catalogue, dedupWindow, quotas: this.#quotas, log, now };
    this.#mirror = new EventMirror({ ...mirrored, isMirroring, environmentName });
    const { streamRetention: retentionMs } = config;
    this.#subscribers = new Subscribers({ store: tapped, views: tapped, retentionMs, isWorkingKey: () => true, now });
    const lifeParts = {
      mirror: this.#mirror,
      quotas: this.#quotas,
      directory,
      catalogue,
      functions,
      traffic,
      activity,
      usage,
      defaultEnvironment,
      eventIds,
      now,
      store: tapped,
      metrics: null,
      tracing: null,
      liveLog: null,
      disk: null,
      senders: { directory, placeholderEnvironment: null, attempts: { waitS: () => null } },
      bodyBytesMax: config.bodyLimit,
      transforms: this.#transforms,
      maskedHeaders: new Set<string>(),
      publicUrl: null,
      dedupWindow: createDedupWindow(config.dedupWindow),
      refusals: new RefusalLog(log),
    };
    const intake = createItemIntake({ ...webhookLifeParts(lifeParts), store: tapped, directory, dedupWindow });
    const receive = createEventLife(lifeParts);
    this.#replay = (record, webhook, seed) => replayRequest(receive, record, webhook.token, seed) as ReturnType<ReplayRequest>;
    const drill = createDrill({ store: tapped, receive, publicUrl: null, providers: async () => [] });
    const { lease: leaseMs } = config;
    this.#jobs = createSimJobs({
      store: tapped,
      functions,
      directory,
      log,
      leaseMs,
      intake,
      listed: parts.listed,
      replay: this.#replay,
      drill,
    });
    this.#edge = new Edge(functions, receive, (name) => this.#environmentNow(name));
  }

  get environmentId() {
    return this.#environmentNow().id;
  }

  /** What an app or a sender asks of the service. Throws when nobody listens. */
  async ask(path: string, headers: Record<string, string>, body: string): Promise<EdgeResponse> {
    if (this.life.isDead || !this.#isOpen) throw new Error("connect ECONNREFUSED");
    const answer = await lives.run(this.life, () => this.#edge.answerTo(path, headers, body));
    // The connection is gone with the process.
    return this.life.isDead ? new Promise(() => undefined) : answer;
  }

  /** What operators do. Throws when nobody listens, or the store does not work. */
  async operate<Result>(work: (at: Operated) => Promise<Result>): Promise<Result> {
    if (this.life.isDead || !this.#isOpen) throw new Error("connect ECONNREFUSED");
    const reached: Operated = {
      functions: this.functions,
      directory: this.#directory,
      catalogue: this.#catalogue,
      jobs: this.#jobs.jobs,
      reconciliation: this.#jobs.reconciliation,
      replay: this.#replay,
      alerts: this.#alerts,
      subscribers: this.#subscribers,
      isDead: () => this.life.isDead,
      store: this.#tapped,
      environment: this.#environmentNow(),
    };
    const result = await lives.run(this.life, () => work(reached));
    return this.life.isDead ? new Promise(() => undefined) : result;
  }

  /** The first half of a stop: calls under way may end, and what their apps ask for meanwhile is answered. */
  async drain(): Promise<void> {
    await lives.run(this.life, async () => {
      this.#subscribers.cutAll();
      await Promise.all([this.#jobs.runner.stop(), this.#mirror.stop()]);
      await this.functions.stop();
      await this.#quotas.stop();
      for (const part of this.#upkeep) await part.stop();
      await this.#transforms.stop();
    });
  }

  /** Nothing it set out to do happens any more. Its store is still open. */
  end(): void {
    this.#isOpen = false;
    this.life.isDead = true;
    void this.#transforms.stop();
  }

  #environmentNow(name: string | null = null) {
    const environment = this.#directory.environmentNamed(name ?? this.#environment);
    if (!environment) throw new Error(`there is no environment ${name ?? "by default"}`);
    return environment;
  }
}
