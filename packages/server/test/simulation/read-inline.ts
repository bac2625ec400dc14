/**
 * Answers what the embedded store asks of its read thread in this one: a thread would answer whenever it likes, and no seed could be
 * played again. Checkpoints are not made: the log of a simulation is short.
 */

import { EventEmitter } from "node:events";
import { syncBuiltinESMExports } from "node:module";
import type { DatabaseSync } from "node:sqlite";
import workerThreads from "node:worker_threads";
import { countRange } from "../../src/store/event-types/sqlite.ts";
import { noWhere } from "../../src/store/events/rows/event-pages.ts";
import { followEvents, getEvent } from "../../src/store/events/sqlite/follow-events.ts";
import { listEvents } from "../../src/store/events/sqlite/list-events.ts";
import { queueDepths } from "../../src/store/queue/sqlite/queue-depths.ts";
import { countOldest, storedBytes } from "../../src/store/retention/sqlite.ts";
import { getRun, listRuns, summariseRuns } from "../../src/store/runs/sqlite/read-runs.ts";
import { openReader } from "../../src/store/sqlite/database.ts";
import type { ReadRequest } from "../../src/store/sqlite/read-operations.ts";
import { listUsage } from "../../src/store/usage/sqlite.ts";
import { requestWithBody } from "../../src/store/webhook-requests/sqlite/read-webhook-requests.ts";

const READ_THREAD = "/read-thread.ts";
const RealWorker = workerThreads.Worker;

class InlineReader extends EventEmitter {
  readonly #path: string;
  #db: DatabaseSync | null = null;

  constructor(path: string) {
    super();
    this.#path = path;
  }

  postMessage({ call, operation, params }: ReadRequest): void {
    setImmediate(() => this.emit("message", { call, result: this.#answer(operation, params) }));
  }

  unref(): this {
    return this;
  }

  async terminate(): Promise<number> {
    this.#db?.close();
    this.#db = null;
    return 0;
  }

  #answer(operation: ReadRequest["operation"], asked: unknown): unknown {
    const params = asked as never;
    if (operation === "checkpoint") return { log: 0, checkpointed: 0 };
    this.#db ??= openReader(this.#path);
    if (operation === "runGet") return getRun(this.#db, params);
    if (operation === "runList") return listRuns(this.#db, params);
    if (operation === "runSummaries") return summariseRuns(this.#db, params);
    if (operation === "eventList") return listEvents(this.#db, params, noWhere);
    if (operation === "queueDepths") return queueDepths(this.#db);
    if (operation === "eventTypeRange") return countRange(this.#db, params);
    if (operation === "eventGet") return getEvent(this.#db, params);
    if (operation === "retentionStoredBytes") return storedBytes(this.#db, params);
    if (operation === "retentionOldestRows") return countOldest(this.#db, params);
    if (operation === "usageList") return listUsage(this.#db, params);
    if (operation === "eventFollow") return followEvents(this.#db, params);
    if (operation === "webhookRequestWithBody") return requestWithBody(this.#db, params);
    throw new Error(`the simulation does not answer ${operation}`);
  }
}

/** Every other thread is a real one. */
class WorkerHere {
  constructor(url: URL, options: { workerData: { path: string } }) {
    // biome-ignore lint/correctness/noConstructorReturn: whoever asks for the read thread gets something that answers like it
    return (url.pathname.endsWith(READ_THREAD)
      ? new InlineReader(options.workerData.path)
      : new RealWorker(url, options)) as unknown as WorkerHere;
  }
}

export function readInline(): void {
  workerThreads.Worker = WorkerHere as unknown as typeof RealWorker;
  syncBuiltinESMExports();
}

export function readOnThreads(): void {
  workerThreads.Worker = RealWorker;
  syncBuiltinESMExports();
}
