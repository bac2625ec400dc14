/** The alerts of one process: rules about failed runs, evaluated as the service does. */

import type { Logger } from "pino";
import { AlertWatch } from "../../src/alerts/alert-watch.ts";
import { measure } from "../../src/alerts/measure.ts";
import type { Directory } from "../../src/receive/senders/directory.ts";
import type { Functions } from "../../src/service/functions.ts";
import type { Store } from "../../src/store/contract/index.ts";
import { now } from "./virtual-time.ts";

/** How often rules are evaluated. */
export const ALERTS_EVERY_MS = 5_000;
const REAL_EVERY_MS = 500;

export interface SimAlertsParts {
  store: Store;
  functions: Functions;
  directory: Directory;
  log: Logger;
  isRealTime: boolean;
}

export function createSimAlerts({ store, functions, directory, log, isRealTime }: SimAlertsParts): AlertWatch {
  const unplayed = () => Promise.reject(new Error("the simulation has no rules of this kind"));
  const measured = {
    store,
    now,
    functionNos: functions.functionNos,
    webhooks: () => directory.webhooks(),
    silences: { measure: unplayed },
    quotaUsed: unplayed,
    archiveFailingSince: unplayed,
    driftEvent: "",
  };
  return new AlertWatch({
    store,
    log,
    now,
    internal: functions.internal,
    take: functions.take,
    measure: (rule) => measure(measured, rule),
    environment: (id) => directory.environment(id),
    takeLeadership: (forMs) => store.leadershipTake({ work: "alerts", node: store.storeNode, now: now(), until: now() + forMs }),
    everyMs: isRealTime ? REAL_EVERY_MS : ALERTS_EVERY_MS,
  });
}
