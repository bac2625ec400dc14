/**
 * The thread that lists, searches and checkpoints, on its own connections: none of this delays accepting events. The stores of a process
 * share it; a store's file is opened with its first read, and closed when the store stops. A thread loads its modules again, so what it uses
 * imports values from the contract of one noun, and not from the contract of the whole store.
 */

import type { DatabaseSync } from "node:sqlite";
import { parentPort } from "node:worker_threads";
import { lastActivity, listActivity } from "../activity/sqlite.ts";
import { countOpen, listApprovals } from "../approvals/sqlite/list-approvals.ts";
import { listAudit } from "../audit-log/sqlite.ts";
import type { CompileWhere } from "../contract/index.ts";
import { sampleEvents } from "../event-shapes/sqlite.ts";
import { countRange, getEventType, listEventTypes } from "../event-types/sqlite.ts";
import { noWhere } from "../events/rows/event-pages.ts";
import { countUnmatched } from "../events/sqlite/count-unmatched.ts";
import { followEvents, getEvent, lastSequence, sequenceBefore } from "../events/sqlite/follow-events.ts";
import { listEvents } from "../events/sqlite/list-events.ts";
import { queueDepths, queueFunctionDepths } from "../queue/sqlite/queue-depths.ts";
import { queuedCall } from "../queue/sqlite/queued-call.ts";
import { countOldest, storedBytes } from "../retention/sqlite.ts";
import { listFailures } from "../runs/sqlite/list-failures.ts";
import { countByEvent, countByJob, getRun, listRuns, summariseRuns } from "../runs/sqlite/read-runs.ts";
import { countEnds, countWaits, timeRuns } from "../runs/sqlite/run-figures.ts";
import { listTraffic } from "../traffic/sqlite.ts";
import { listUsage } from "../usage/sqlite.ts";
import { followRequests, lastRequestSequence, requestSequenceBefore } from "../webhook-requests/sqlite/follow-webhook-requests.ts";
import {
  countRequests,
  getRequest,
  listOutcomes,
  listRequests,
  requestWithBody,
} from "../webhook-requests/sqlite/read-webhook-requests.ts";
import { checkpoint } from "./checkpointer.ts";
import { openReader, openWriter } from "./database.ts";
import type { ReadFile, ReadOperations, ReadParams, ReadRequest, ReadResponse, ReadResult } from "./read-operations.ts";

class OpenFile {
  readonly #file: ReadFile;
  readonly db: DatabaseSync;
  /** Used only for checkpoints; opened with the first. */
  #checkpointDb: DatabaseSync | undefined;

  constructor(file: ReadFile) {
    this.#file = file;
    this.db = openReader(file.path);
  }

  checkpoint(): ReturnType<typeof checkpoint> {
    this.#checkpointDb ??= openWriter(this.#file.path);
    return checkpoint(this.#checkpointDb);
  }

  /** Loaded with the first expression. */
  async where({ where }: { where?: string }): Promise<CompileWhere> {
    const { whereModule } = this.#file;
    if (where === undefined || whereModule === null) return noWhere;
    return ((await import(whereModule)) as { compileWhere: CompileWhere }).compileWhere;
  }

  close(): void {
    this.db.close();
    this.#checkpointDb?.close();
  }
}

type Operations = Omit<ReadOperations, "close">;

const operations: {
  [Name in keyof Operations]: (file: OpenFile, params: ReadParams<Name>) => ReadResult<Name> | Promise<ReadResult<Name>>;
} = {
  eventList: async (file, params) => listEvents(file.db, params, await file.where(params)),
  eventCountUnmatched: ({ db }, params) => countUnmatched(db, params),
  eventFollow: ({ db }, params) => followEvents(db, params),
  eventGet: ({ db }, params) => getEvent(db, params),
  eventSequence: ({ db }) => lastSequence(db),
  eventSequenceBefore: ({ db }, params) => sequenceBefore(db, params),
  webhookRequestList: ({ db }, params) => listRequests(db, params),
  webhookRequestGet: ({ db }, params) => getRequest(db, params),
  webhookRequestWithBody: ({ db }, params) => requestWithBody(db, params),
  webhookRequestOutcomes: ({ db }, params) => listOutcomes(db, params),
  webhookRequestCounts: ({ db }, params) => countRequests(db, params),
  runList: async (file, params) => listRuns(file.db, params, await file.where(params)),
  runFailures: ({ db }, params) => listFailures(db, params),
  runSummaries: ({ db }, params) => summariseRuns(db, params),
  runCountByJob: ({ db }, params) => countByJob(db, params),
  runCountByEvent: ({ db }, params) => countByEvent(db, params),
  runTimings: ({ db }, params) => timeRuns(db, params),
  runEndCount: ({ db }, params) => countEnds(db, params),
  waitCountByFunction: ({ db }, params) => countWaits(db, params),
  queueCallOf: ({ db }, params) => queuedCall(db, params),
  queueDepths: ({ db }) => queueDepths(db),
  queueFunctionDepths: ({ db }) => queueFunctionDepths(db),
  runGet: ({ db }, params) => getRun(db, params),
  auditList: ({ db }, params) => listAudit(db, params),
  eventSample: ({ db }, params) => sampleEvents(db, params),
  eventTypeRange: ({ db }, params) => countRange(db, params),
  eventTypeGet: ({ db }, params) => getEventType(db, params),
  eventTypeList: ({ db }, params) => listEventTypes(db, params),
  trafficList: ({ db }, params) => listTraffic(db, params),
  usageList: ({ db }, params) => listUsage(db, params),
  retentionStoredBytes: ({ db }, params) => storedBytes(db, params),
  retentionOldestRows: ({ db }, params) => countOldest(db, params),
  activityLast: ({ db }, params) => lastActivity(db, params),
  activityList: ({ db }, params) => listActivity(db, params),
  approvalList: ({ db }, params) => listApprovals(db, params),
  approvalCountOpen: ({ db }, params) => countOpen(db, params),
  webhookRequestFollow: ({ db }, params) => followRequests(db, params),
  webhookRequestSequence: ({ db }) => lastRequestSequence(db),
  webhookRequestSequenceBefore: ({ db }, params) => requestSequenceBefore(db, params),
  checkpoint: (file) => file.checkpoint(),
};

const files = new Map<number, OpenFile>();

parentPort?.on("message", async (request: ReadRequest) => {
  const { call } = request;
  const { store } = request.file;
  try {
    parentPort?.postMessage({ store, call, result: await answer(request) } satisfies ReadResponse);
  } catch (error) {
    // SQLite's error code is a property of the error, which structured cloning would drop.
    const { message, errcode } = error as Error & { errcode?: number };
    parentPort?.postMessage({ store, call, error: { message, errcode } } satisfies ReadResponse);
  }
});

function answer({ file, operation, params }: ReadRequest): unknown {
  if (operation === "close") return close(file);
  const open = files.get(file.store) ?? new OpenFile(file);
  files.set(file.store, open);
  return operations[operation](open, params);
}

function close({ store }: ReadFile): void {
  files.get(store)?.close();
  files.delete(store);
}
