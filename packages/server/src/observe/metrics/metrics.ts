/**
 * The metrics of `/metrics`. Counters belong to this process and begin at zero; the length of the queue and the size of the store
 * describe the whole installation, and are queried on request, at most every few seconds.
 *
 * Recording a value costs a lookup and an addition: the series of an environment are cached.
 */

import { DAY_MS, type EnvironmentId, type FunctionNo } from "@inlet/protocol";
import { Registry } from "prom-client";
import {
  type CommitFigures,
  type Environment,
  type FunctionQueueDepth,
  noUsage,
  type RunEnd,
  type RunRecord,
  replicaReports,
  type SourceKind,
  type Store,
} from "../../store/contract/index.ts";
import { EventLoopDelay } from "./event-loop-delay.ts";
import { FunctionLabels } from "./function-labels.ts";
import { createInstruments } from "./instruments.ts";
import { setReplicas } from "./set-replicas.ts";
import { setUsage } from "./set-usage.ts";

const POLL_INTERVAL_MS = 5_000;
/** A query that takes long, because a million calls wait, delays the next one. */
const REST_PER_POLL = 100;
/** One that failed delays it less: the store may be back soon. */
const REST_PER_FAILURE = 4;

/** `unreachable`: the app did not respond. */
export type CallOutcome = "ok" | "error" | "unreachable";

export interface MetricsParts {
  store: Pick<Store, "storeBytes" | "storeViews" | "storeDatabases" | "retentionArchiveFailingSince">;
  environments(): readonly Pick<Environment, "id" | "name" | "quotas">[];
  environmentName(id: EnvironmentId): string;
  functionId(no: FunctionNo): string;
  /** Since when calls wait in this process that are leased, and therefore look in progress to the store. */
  waitingSince(): ReadonlyMap<FunctionNo, number>;
  now(): number;
}

/** A metric with its values, as the library has them. */
export interface MetricSnapshot {
  name: string;
  help: string;
  type: string;
  values: readonly MetricSample[];
}

export interface MetricSample {
  value: number;
  labels: Readonly<Record<string, string | number | undefined>>;
  /** Of a histogram: which of its series this is. */
  metricName?: string;
}

interface Series {
  inc(count?: number): void;
}

export class Metrics {
  readonly #parts: MetricsParts;
  readonly #registry = new Registry();
  readonly #instruments = createInstruments(this.#registry);
  readonly #functions: FunctionLabels;
  readonly #series = new Map<string, Series>();
  readonly #loopDelay = new EventLoopDelay(this.#instruments.loopDelay);
  #polled: { until: number; done: Promise<void> } | null = null;

  constructor(parts: MetricsParts) {
    this.#parts = parts;
    this.#functions = new FunctionLabels(parts.functionId);
  }

  start(): void {
    this.#loopDelay.start();
  }

  async stop(): Promise<void> {
    this.#loopDelay.stop();
  }

  stored(environmentId: EnvironmentId, source: SourceKind, accepted: number, duplicates: number): void {
    const { accepted: counter, duplicate } = this.#instruments;
    if (accepted > 0) this.#one(`a ${environmentId} ${source}`, () => counter.labels(this.#name(environmentId), source)).inc(accepted);
    if (duplicates > 0) this.#one(`d ${environmentId}`, () => duplicate.labels(this.#name(environmentId))).inc(duplicates);
  }

  refused(environmentId: EnvironmentId | null, code: string): void {
    const environment = environmentId === null ? "" : this.#name(environmentId);
    this.#one(`r ${environmentId} ${code}`, () => this.#instruments.refused.labels(environment, code)).inc();
  }

  /** `transformMs` is null if no transform ran. */
  webhookRequest(environmentId: EnvironmentId, outcome: string, transformMs: number | null): void {
    const { webhookRequests, transformDuration } = this.#instruments;
    this.#one(`w ${environmentId} ${outcome}`, () => webhookRequests.labels(this.#name(environmentId), outcome)).inc();
    if (transformMs !== null) transformDuration.observe(transformMs / 1_000);
  }

  committed({ durationMs, events }: CommitFigures): void {
    this.#instruments.commitDuration.observe(durationMs / 1_000);
    if (events > 0) this.#instruments.commitEvents.observe(events);
  }

  called(
    { environmentId, functionNo, attempt }: { environmentId: EnvironmentId; functionNo: FunctionNo; attempt: number },
    outcome: CallOutcome,
  ): void {
    const { calls, callRetries } = this.#instruments;
    const labels = this.#labels(environmentId, functionNo);
    this.#one(`c ${labels} ${outcome}`, () => calls.labels(...labels, outcome)).inc();
    if (attempt > 0) this.#one(`t ${labels}`, () => callRetries.labels(...labels)).inc();
  }

  runStarted(environmentId: EnvironmentId, functionNo: FunctionNo): void {
    const labels = this.#labels(environmentId, functionNo);
    this.#one(`s ${labels}`, () => this.#instruments.runsStarted.labels(...labels)).inc();
  }

  runEnded({ environmentId, functionNo, createdAt }: RunRecord, { status, endedAt }: RunEnd): void {
    const labels = this.#labels(environmentId, functionNo);
    this.#one(`e ${labels} ${status}`, () => this.#instruments.runsEnded.labels(...labels, status)).inc();
    this.#instruments.runDuration.observe(Math.max(0, endedAt - createdAt) / 1_000);
  }

  /** In the Prometheus text format. If the store cannot be read, its figures keep their last values. */
  async text(): Promise<{ contentType: string; body: string }> {
    await this.#poll();
    setReplicas(this.#instruments, replicaReports(this.#parts.store));
    return { contentType: this.#registry.contentType, body: await this.#registry.metrics() };
  }

  /** The same as values. */
  async snapshot(): Promise<MetricSnapshot[]> {
    await this.#poll();
    setReplicas(this.#instruments, replicaReports(this.#parts.store));
    const metrics = await this.#registry.getMetricsAsJSON();
    return metrics.map((metric) => ({ ...metric, type: String(metric.type) }));
  }

  #poll(): Promise<void> {
    const begun = performance.now();
    if (!this.#polled || begun >= this.#polled.until) {
      const polled = { until: Number.POSITIVE_INFINITY, done: Promise.resolve() };
      const rest = (perPoll: number) => {
        const ended = performance.now();
        polled.until = ended + Math.max(POLL_INTERVAL_MS, (ended - begun) * perPoll);
      };
      polled.done = this.#read().then(
        () => rest(REST_PER_POLL),
        () => rest(REST_PER_FAILURE),
      );
      this.#polled = polled;
    }
    return this.#polled.done;
  }

  async #read(): Promise<void> {
    const { store, now } = this.#parts;
    const [depths, bytes, since] = await Promise.all([
      store.storeViews.queueFunctionDepths(),
      store.storeBytes(),
      store.retentionArchiveFailingSince(),
      this.#readUsage(),
    ]);
    this.#instruments.storeBytes.set(bytes);
    this.#instruments.archiveFailing.set(since === null ? 0 : Math.max(0, now() - since) / 1_000);
    this.#setQueue(depths);
  }

  async #readUsage(): Promise<void> {
    const { store, environments, now } = this.#parts;
    const from = now() - (now() % DAY_MS);
    const environmentIds = environments().map(({ id }) => id);
    const today = await store.storeViews.usageList({ environmentIds, kind: "environment", from, to: from + DAY_MS, intervalMs: DAY_MS });
    const used = new Map(today.map(({ environmentId, figures }) => [environmentId, figures]));
    setUsage(
      this.#instruments,
      environments().map(({ id, name, quotas }) => ({ name, quotas, figures: used.get(id) ?? noUsage() })),
    );
  }

  /** Functions that share the label `other` are added up. */
  #setQueue(depths: readonly FunctionQueueDepth[]): void {
    const { queueLength, queueAge } = this.#instruments;
    const now = this.#parts.now();
    const here = this.#parts.waitingSince();
    queueLength.reset();
    queueAge.reset();
    const ages = new Map<string, number>();
    for (const { environmentId, functionNo, waiting, oldestDueAt } of depths) {
      const labels = this.#labels(environmentId, functionNo);
      queueLength.labels(...labels).inc(waiting);
      const ageMs = Math.max(0, now - Math.min(oldestDueAt ?? now, here.get(functionNo) ?? now));
      const oldest = Math.max(ageMs, ages.get(String(labels)) ?? 0);
      ages.set(String(labels), oldest);
      queueAge.labels(...labels).set(oldest / 1_000);
    }
  }

  #one(key: string, make: () => Series): Series {
    let series = this.#series.get(key);
    if (!series) {
      series = make();
      this.#series.set(key, series);
    }
    return series;
  }

  #labels(environmentId: EnvironmentId, functionNo: FunctionNo): [environment: string, fn: string] {
    return [this.#name(environmentId), this.#functions.labelOf(functionNo)];
  }

  #name(environmentId: EnvironmentId): string {
    return this.#parts.environmentName(environmentId);
  }
}
