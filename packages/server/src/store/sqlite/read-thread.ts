/** The thread that lists and searches, on a read-only connection of its own: a slow list never delays an accept. */

import { parentPort, workerData } from "node:worker_threads";
import { openReader } from "./database.ts";
import { followEvents, getEvent, lastSequence } from "./follow-events.ts";
import { listEvents } from "./list-events.ts";

const db = openReader((workerData as { path: string }).path);

const operations = {
  eventList: (params: Parameters<typeof listEvents>[1]) => listEvents(db, params),
  eventFollow: (params: Parameters<typeof followEvents>[1]) => followEvents(db, params),
  eventGet: (params: Parameters<typeof getEvent>[1]) => getEvent(db, params),
  eventSequence: () => lastSequence(db),
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
