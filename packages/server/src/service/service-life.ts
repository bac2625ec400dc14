/** Starts the parts of the service in order, and stops them in the opposite one. */

import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import { listenForMetrics, type MetricsListener } from "../api/metrics-route.ts";
import type { Archive } from "../archive/archive.ts";
import type { ListenAddress } from "../config/address-readings.ts";
import type { Config } from "../config/config.ts";
import type { Metrics } from "../observe/metrics/metrics.ts";
import type { Directory } from "../receive/senders/directory.ts";
import type { Store } from "../store/contract/index.ts";
import type { TransformRunner } from "../transform/index.ts";
import type { NewKey } from "./bootstrap.ts";
import type { ChangeFollower } from "./follow-changes.ts";
import type { Functions } from "./functions.ts";
import type { BackgroundService } from "./maintenance.ts";
import type { Observation } from "./observation.ts";
import { StartRefused } from "./start-refused.ts";

const IDLE_CHECK_MS = 20;

export interface ServiceLifeParts {
  config: Config;
  store: Store;
  directory: Directory;
  changes: ChangeFollower;
  observation: Observation;
  functions: Functions;
  transforms: TransformRunner;
  app: FastifyInstance;
  /** Reads what the first request needs. */
  loading: Promise<void>;
  archive: Pick<Archive, "stop"> | null;
  /** Stopped while HTTP is still open, since their work may need it. */
  work: readonly BackgroundService[];
  maintenance: readonly BackgroundService[];
  createKeys(): Promise<NewKey[]>;
  onListening: (() => void) | undefined;
  stops: StopControllers;
  log: Logger;
}

/** `stopping`: the service was asked to stop. `draining`: it accepts nothing new. */
export interface StopControllers {
  stopping: AbortController;
  draining: AbortController;
}

export interface Started {
  url: string;
  metricsUrl: string | null;
  newKeys: NewKey[];
}

export class ServiceLife {
  readonly #parts: ServiceLifeParts;
  #metrics: MetricsListener | null = null;
  #stopped: Promise<void> | null = null;

  constructor(parts: ServiceLifeParts) {
    this.#parts = parts;
  }

  /** If a part does not start, those that did are stopped: what is open would keep the process alive. */
  async start(): Promise<Started> {
    try {
      return await this.#start();
    } catch (error) {
      // A fault while stopping follows from the first, which the caller gets.
      await this.#stop().catch((fault) => this.#parts.log.debug({ err: fault }, "the service could not be stopped in order"));
      throw error;
    }
  }

  /** Idempotent. `isUrgent`: without the delay for load balancers. */
  stop(isUrgent: boolean): Promise<void> {
    this.#stopped ??= this.#stopAfterDelay(isUrgent);
    return this.#stopped;
  }

  async #start(): Promise<Started> {
    const { config, directory, observation, functions, app, loading, work, maintenance, createKeys, onListening, log } = this.#parts;
    await Promise.all([loading, functions.open(), app.ready()]);
    await app.listen({ port: config.port, host: config.host });
    onListening?.();
    this.#metrics = config.metricsListen && (await openMetrics(config.metricsListen, observation.metrics));
    if (this.#metrics) log.info(`metrics on ${this.#metrics.url}`);
    const newKeys = await createKeys();
    if (newKeys.length > 0) await directory.refresh();
    await functions.start((app.server.address() as AddressInfo).port);
    for (const part of [...maintenance, ...work]) part.start();
    return { url: urlOf(app), metricsUrl: this.#metrics?.url ?? null, newKeys };
  }

  /** Requests are accepted during the delay, so that none is refused before load balancers have noticed. */
  async #stopAfterDelay(isUrgent: boolean): Promise<void> {
    const { config, stops } = this.#parts;
    stops.stopping.abort();
    if (!isUrgent && config.drainDelay > 0) await pause(config.drainDelay);
    await this.#stop();
  }

  async #stop(): Promise<void> {
    const { config, store, changes, observation, functions, transforms, app, archive, work, maintenance, stops } = this.#parts;
    stops.draining.abort();
    // Apps that are being called still send events and checkpoints: HTTP is closed when their calls have ended.
    await Promise.all([functions.stop(), ...work.map((part) => part.stop())]);
    changes.stop();
    await closeWithin(app, config.drainTimeout);
    archive?.stop();
    await Promise.all([...maintenance.map((part) => part.stop()), transforms.stop(), this.#metrics?.stop()]);
    observation.refusals.stop();
    // The last export of metrics reads the store.
    await observation.telemetry?.stop();
    await store.stop();
  }
}

async function openMetrics(address: ListenAddress, metrics: Metrics): Promise<MetricsListener> {
  try {
    return await listenForMetrics(address, metrics);
  } catch (error) {
    throw new StartRefused(`cannot listen on ${address.host}:${address.port}, see --metrics-listen: ${(error as Error).message}`, error);
  }
}

/** New connections are refused at once; requests in flight may finish until the timeout. */
async function closeWithin(app: FastifyInstance, timeoutMs: number): Promise<void> {
  const cut = setTimeout(() => app.server.closeAllConnections(), timeoutMs);
  // A connection that was just busy is idle now, and would be kept for the next request.
  const closeIdle = setInterval(() => app.server.closeIdleConnections(), IDLE_CHECK_MS);
  await app.close();
  clearTimeout(cut);
  clearInterval(closeIdle);
}

function urlOf(app: FastifyInstance): string {
  const { address, family, port } = app.server.address() as AddressInfo;
  return `http://${family === "IPv6" ? `[${address}]` : address}:${port}`;
}
