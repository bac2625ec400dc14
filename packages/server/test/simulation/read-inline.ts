/**
 * Answers what the embedded store asks of its read thread in this one: a thread would answer whenever it likes, and no seed could be
 * played again. Checkpoints are not made: the log of a simulation is short.
 */

import { EventEmitter } from "node:events";
import { syncBuiltinESMExports } from "node:module";
import type { DatabaseSync } from "node:sqlite";
import workerThreads from "node:worker_threads";
import { countOpen, listApprovals } from "../../src/store/approvals/sqlite/list-approvals.ts";
import { countRange } from "../../src/store/event-types/sqlite.ts";
import { noWhere } from "../../src/store/events/rows/event-pages.ts";
import { followEvents, getEvent } from "../../src/store/events/sqlite/follow-events.ts";
import { listEvents } from "../../src/store/events/sqlite/list-events.ts";
import { queueDepths } from "../../src/store/queue/sqlite/queue-depths.ts";
import { countOldest, storedBytes } from "../../src/store/retention/sqlite.ts";
import { getRun, listRuns, summariseRuns } from "../../src/store/runs/sqlite/read-runs.ts";
import { countEnds } from "../../src/store/runs/sqlite/run-figures.ts";
import { openReader } from "../../src/store/sqlite/database.ts";
import type { ReadFile, ReadRequest } from "../../src/store/sqlite/read-operations.ts";
import { listUsage } from "../../src/store/usage/sqlite.ts";
import { getRequest, listRequests, requestWithBody } from "../../src/store/webhook-requests/sqlite/read-webhook-requests.ts";

const READ_THREAD = "/read-thread.ts";
const RealWorker = workerThreads.Worker;

class InlineReader extends EventEmitter {
  readonly #open = new Map<number, DatabaseSync>();

  postMessage({ file, call, operation, params }: ReadRequest): void {
    const emit = (result: unknown) => this.emit("message", { store: file.store, call, result });
    setImmediate(() => {
      const answer = this.#answer(file, operation, params);
      // A store that is closed meanwhile is waited for by nobody.
      if (answer instanceof Promise) void answer.then(emit, () => undefined);
      else emit(answer);
    });
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  async terminate(): Promise<number> {
    for (const db of this.#open.values()) db.close();
    this.#open.clear();
    this.emit("exit", 0);
    return 0;
  }

  #close({ store }: ReadFile): void {
    this.#open.get(store)?.close();
    this.#open.delete(store);
  }

  #answer(file: ReadFile, operation: ReadRequest["operation"], asked: unknown): unknown {
    const params = asked as never;
    if (operation === "checkpoint") return { log: 0, checkpointed: 0 };
    if (operation === "close") return this.#close(file);
    const db = this.#open.get(file.store) ?? openReader(file.path);
    this.#open.set(file.store, db);
    if (operation === "runGet") return getRun(db, params);
    if (operation === "runList") return listRuns(db, params);
    if (operation === "runEndCount") return countEnds(db, params);
    if (operation === "runSummaries") return summariseRuns(db, params);
    if (operation === "eventList") return listEvents(db, params, noWhere);
    if (operation === "queueDepths") return queueDepths(db);
    if (operation === "eventTypeRange") return countRange(db, params);
    if (operation === "eventGet") return getEvent(db, params);
    if (operation === "retentionStoredBytes") return storedBytes(db, params);
    if (operation === "retentionOldestRows") return countOldest(db, params);
    if (operation === "usageList") return listUsage(db, params);
    if (operation === "eventFollow") return followEvents(db, params);
    if (operation === "webhookRequestWithBody") return requestWithBody(db, params);
    if (operation === "webhookRequestGet") return getRequest(db, params);
    if (operation === "webhookRequestList") return listRequests(db, params);
    if (operation === "approvalList") return listApprovals(db, params);
    if (operation === "approvalCountOpen") return countOpen(db, params);
    throw new Error(`the simulation does not answer ${operation}`);
  }
}

let inline: InlineReader | null = null;

/** Every other thread is a real one. */
class WorkerHere {
  constructor(url: URL, options: object) {
    const isReader = url.pathname.endsWith(READ_THREAD);
    if (isReader) inline = new InlineReader();
    // biome-ignore lint/correctness/noConstructorReturn: whoever asks for the read thread gets something that answers like it
    return (isReader ? inline : new RealWorker(url, options)) as unknown as WorkerHere;
  }
}

export function readInline(): void {
  workerThreads.Worker = WorkerHere as unknown as typeof RealWorker;
  syncBuiltinESMExports();
}

export function readOnThreads(): void {
  workerThreads.Worker = RealWorker;
  syncBuiltinESMExports();
  void inline?.terminate();
}
