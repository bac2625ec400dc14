/**
 * The thread that lists, searches and checkpoints, on its own connections: none of this delays accepting events. A thread loads its modules
 * again, so what it uses imports values from the contract of one noun, and not from the contract of the whole store.
 */

import type { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import { lastActivity, listActivity } from "../activity/sqlite.ts";
import { listAudit } from "../audit-log/sqlite.ts";
import type { CompileWhere } from "../contract/index.ts";
import { sampleEvents } from "../event-shapes/sqlite.ts";
import { countRange, getEventType, listEventTypes } from "../event-types/sqlite.ts";
import { noWhere } from "../events/rows/event-pages.ts";
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
import type { ReadOperations, ReadParams, ReadRequest, ReadResponse, ReadResult } from "./read-operations.ts";

const { path, whereModule } = workerData as { path: string; whereModule: string | null };
const db = openReader(path);
/** Used only for checkpoints; opened with the first. */
let checkpointDb: DatabaseSync | undefined;

function checkpointNow(): ReturnType<typeof checkpoint> {
  checkpointDb ??= openWriter(path);
  return checkpoint(checkpointDb);
}

/** Loaded with the first expression. */
async function whereOf({ where }: { where?: string }): Promise<CompileWhere> {
  if (where === undefined || whereModule === null) return noWhere;
  return ((await import(whereModule)) as { compileWhere: CompileWhere }).compileWhere;
}

const operations: { [Name in keyof ReadOperations]: (params: ReadParams<Name>) => ReadResult<Name> | Promise<ReadResult<Name>> } = {
  eventList: async (params) => listEvents(db, params, await whereOf(params)),
  eventFollow: (params) => followEvents(db, params),
  eventGet: (params) => getEvent(db, params),
  eventSequence: () => lastSequence(db),
  eventSequenceBefore: (params) => sequenceBefore(db, params),
  webhookRequestList: (params) => listRequests(db, params),
  webhookRequestGet: (params) => getRequest(db, params),
  webhookRequestWithBody: (params) => requestWithBody(db, params),
  webhookRequestOutcomes: (params) => listOutcomes(db, params),
  webhookRequestCounts: (params) => countRequests(db, params),
  runList: async (params) => listRuns(db, params, await whereOf(params)),
  runFailures: (params) => listFailures(db, params),
  runSummaries: (params) => summariseRuns(db, params),
  runCountByJob: (params) => countByJob(db, params),
  runCountByEvent: (params) => countByEvent(db, params),
  runTimings: (params) => timeRuns(db, params),
  runEndCount: (params) => countEnds(db, params),
  waitCountByFunction: (params) => countWaits(db, params),
  queueCallOf: (params) => queuedCall(db, params),
  queueDepths: () => queueDepths(db),
  queueFunctionDepths: () => queueFunctionDepths(db),
  runGet: (params) => getRun(db, params),
  auditList: (params) => listAudit(db, params),
  eventSample: (params) => sampleEvents(db, params),
  eventTypeRange: (params) => countRange(db, params),
  eventTypeGet: (params) => getEventType(db, params),
  eventTypeList: (params) => listEventTypes(db, params),
  trafficList: (params) => listTraffic(db, params),
  usageList: (params) => listUsage(db, params),
  retentionStoredBytes: (params) => storedBytes(db, params),
  retentionOldestRows: (params) => countOldest(db, params),
  activityLast: (params) => lastActivity(db, params),
  activityList: (params) => listActivity(db, params),
  webhookRequestFollow: (params) => followRequests(db, params),
  webhookRequestSequence: () => lastRequestSequence(db),
  webhookRequestSequenceBefore: (params) => requestSequenceBefore(db, params),
  checkpoint: checkpointNow,
};

parentPort?.on("message", async ({ call, operation, params }: ReadRequest) => {
  try {
    parentPort?.postMessage({ call, result: await operations[operation](params) } satisfies ReadResponse);
  } catch (error) {
    // SQLite's error code is a property of the error, which structured cloning would drop.
    const { message, errcode } = error as Error & { errcode?: number };
    parentPort?.postMessage({ call, error: { message, errcode } } satisfies ReadResponse);
  }
});
