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
import { queueDepths } from "./queue/queue-depths.ts";
import { getRun, listRuns, summariseRuns } from "./runs/read-runs.ts";
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

const operations = {
  eventList: (params: Parameters<typeof listEvents>[1]) => listEvents(db, params),
  eventFollow: (params: Parameters<typeof followEvents>[1]) => followEvents(db, params),
  eventGet: (params: Parameters<typeof getEvent>[1]) => getEvent(db, params),
  eventSequence: () => lastSequence(db),
  eventSequenceBefore: (params: Parameters<typeof sequenceBefore>[1]) => sequenceBefore(db, params),
  webhookRequestList: (params: Parameters<typeof listRequests>[1]) => listRequests(db, params),
  webhookRequestGet: (params: Parameters<typeof getRequest>[1]) => getRequest(db, params),
  runList: (params: Parameters<typeof listRuns>[1]) => listRuns(db, params),
  runSummaries: (params: Parameters<typeof summariseRuns>[1]) => summariseRuns(db, params),
  queueDepths: () => queueDepths(db),
  runGet: (params: Parameters<typeof getRun>[1]) => getRun(db, params),
  auditList: (params: Parameters<typeof listAudit>[1]) => listAudit(db, params),
  eventTypeStretch: (params: Parameters<typeof countStretch>[1]) => countStretch(db, params),
  eventTypeGet: (params: Parameters<typeof getEventType>[1]) => getEventType(db, params),
  eventTypeList: (params: Parameters<typeof listEventTypes>[1]) => listEventTypes(db, params),
  trafficList: (params: Parameters<typeof listTraffic>[1]) => listTraffic(db, params),
  webhookRequestFollow: (params: Parameters<typeof followRequests>[1]) => followRequests(db, params),
  webhookRequestSequence: () => lastRequestSequence(db),
  webhookRequestSequenceBefore: (params: Parameters<typeof requestSequenceBefore>[1]) => requestSequenceBefore(db, params),
  checkpoint: checkpointNow,
};

export type ReadOperations = typeof operations;

export interface ReadRequest {
  call: number;
  operation: keyof ReadOperations;
  params: never;
}

export type ReadAnswer = { call: number; result: unknown } | { call: number; error: unknown };

parentPort?.on("message", async ({ call, operation, params }: ReadRequest) => {
  try {
    parentPort?.postMessage({ call, result: await operations[operation](params) } satisfies ReadAnswer);
  } catch (error) {
    // SQLite's error code is a property of the error, which cloning would drop.
    const { message, errcode } = error as Error & { errcode?: number };
    parentPort?.postMessage({ call, error: { message, errcode } } satisfies ReadAnswer);
  }
});
