/** The thread that lists, searches and checkpoints, on connections of its own: none of this delays an accept. */

import type { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import { listAudit } from "./access/audit-log.ts";
import { checkpoint } from "./checkpointer.ts";
import { openReader, openWriter } from "./database.ts";
import { countStretch, getEventType, listEventTypes } from "./events/event-types.ts";
import { followEvents, getEvent, lastSequence, sequenceBefore } from "./events/follow-events.ts";
import { listEvents } from "./events/list-events.ts";
import { listTraffic } from "./events/traffic.ts";
import { queueDepths, queueFunctionDepths } from "./queue/queue-depths.ts";
import type { ReadAnswer, ReadOperations, ReadParams, ReadRequest, ReadResult } from "./read-operations.ts";
import { countByEvent, getRun, listRuns, summariseRuns } from "./runs/read-runs.ts";
import { countWaits, timeRuns } from "./runs/run-figures.ts";
import { followRequests, lastRequestSequence, requestSequenceBefore } from "./webhooks/follow-webhook-requests.ts";
import { getRequest, listRequests } from "./webhooks/read-webhook-requests.ts";

const { path } = workerData as { path: string };
const db = openReader(path);
/** Writes nothing but checkpoints; opened with the first. */
let checkpointDb: DatabaseSync | undefined;

function checkpointNow(): ReturnType<typeof checkpoint> {
  checkpointDb ??= openWriter(path);
  return checkpoint(checkpointDb);
}

const operations: { [Name in keyof ReadOperations]: (params: ReadParams<Name>) => ReadResult<Name> | Promise<ReadResult<Name>> } = {
  eventList: (params) => listEvents(db, params),
  eventFollow: (params) => followEvents(db, params),
  eventGet: (params) => getEvent(db, params),
  eventSequence: () => lastSequence(db),
  eventSequenceBefore: (params) => sequenceBefore(db, params),
  webhookRequestList: (params) => listRequests(db, params),
  webhookRequestGet: (params) => getRequest(db, params),
  runList: (params) => listRuns(db, params),
  runSummaries: (params) => summariseRuns(db, params),
  runCountByEvent: (params) => countByEvent(db, params),
  runTimings: (params) => timeRuns(db, params),
  waitCountByFunction: (params) => countWaits(db, params),
  queueDepths: () => queueDepths(db),
  queueFunctionDepths: () => queueFunctionDepths(db),
  runGet: (params) => getRun(db, params),
  auditList: (params) => listAudit(db, params),
  eventTypeStretch: (params) => countStretch(db, params),
  eventTypeGet: (params) => getEventType(db, params),
  eventTypeList: (params) => listEventTypes(db, params),
  trafficList: (params) => listTraffic(db, params),
  webhookRequestFollow: (params) => followRequests(db, params),
  webhookRequestSequence: () => lastRequestSequence(db),
  webhookRequestSequenceBefore: (params) => requestSequenceBefore(db, params),
  checkpoint: checkpointNow,
};

parentPort?.on("message", async ({ call, operation, params }: ReadRequest) => {
  try {
    parentPort?.postMessage({ call, result: await operations[operation](params) } satisfies ReadAnswer);
  } catch (error) {
    // SQLite's error code is a property of the error, which cloning would drop.
    const { message, errcode } = error as Error & { errcode?: number };
    parentPort?.postMessage({ call, error: { message, errcode } } satisfies ReadAnswer);
  }
});
