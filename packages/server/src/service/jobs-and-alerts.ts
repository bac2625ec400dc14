/** Jobs and alerts: detecting that something failed for many, and repairing it for all of them. */

import type { EventIdGenerator, JobId } from "@inlet/protocol";
import type { Logger } from "pino";
import { AlertWatch } from "../alerts/alert-watch.ts";
import { measure } from "../alerts/measure.ts";
import { Silences } from "../alerts/silence.ts";
import type { AlertsRoutesParts } from "../api/alerts/alerts-routes.ts";
import type { RhythmRoutesParts } from "../api/alerts/rhythm-routes.ts";
import type { JobsRoutesParts } from "../api/jobs/jobs-routes.ts";
import { gatheringWithout } from "../fan-out/starts/decide-start.ts";
import { DRIFT_EVENT } from "../flows/report-drift.ts";
import type { JobKind } from "../jobs/job-kind.ts";
import { JobRunner } from "../jobs/job-runner.ts";
import { createJobs } from "../jobs/jobs.ts";
import { cancelRuns } from "../jobs/kinds/cancel-runs.ts";
import { type DrillWebhookParts, drillWebhook } from "../jobs/kinds/drill-webhook.ts";
import { type EraseEventsParts, eraseEvents } from "../jobs/kinds/erase-events.ts";
import { replayEvents } from "../jobs/kinds/replay-events.ts";
import { type ReplayRequestsParts, replayRequests } from "../jobs/kinds/replay-requests.ts";
import { rerunRuns } from "../jobs/kinds/rerun-runs.ts";
import type { ReconcileOrders } from "../jobs/reconcile-orders.ts";
import type { Activity } from "../observe/activity.ts";
import { isOverSoon } from "../receive/quotas/quota-refusal.ts";
import type { Directory } from "../receive/senders/directory.ts";
import { databaseOf, type Environment, type EventSource, type Store } from "../store/contract/index.ts";
import type { Functions } from "./functions.ts";
import type { BackgroundService } from "./maintenance.ts";
import type { ReconciliationWork } from "./reconciliation.ts";

export interface JobsAndAlertsParts {
  store: Store;
  directory: Directory;
  functions: Functions;
  activity: Activity;
  /** Of the quota that is used most, in percent. */
  quotaUsed(environmentId: Environment["id"]): Promise<number>;
  replay: ReplayRequestsParts["replay"];
  drill: DrillWebhookParts["drill"];
  reconciliation: ReconciliationWork;
  archive: EraseEventsParts["archive"];
  sourceName: (source: EventSource) => string;
  /** Items per second, unless a job has its own rate. */
  jobRate: number;
  /** How long a job of a node that died stays with it. */
  leaseMs: number;
  ids: EventIdGenerator;
  log: Logger;
  now: () => number;
}

export interface JobsAndAlerts {
  jobs: JobsRoutesParts["jobs"];
  reconciliations: ReconcileOrders;
  alerts: AlertsRoutesParts["alerts"];
  silences: RhythmRoutesParts["silences"];
  work: BackgroundService[];
}

export function createJobsAndAlerts(parts: JobsAndAlertsParts): JobsAndAlerts {
  const { store, directory, functions, activity, reconciliation, jobRate, leaseMs, ids, log, now } = parts;
  const kinds = createKinds(parts);
  const runner = new JobRunner({
    store,
    kinds: [...kinds, reconciliation.kind],
    environment: (id) => directory.environment(id),
    leaseMs,
    log,
    now,
  });
  const newId = () => ids.next(now()) as string as JobId;
  const jobs = createJobs({ store, kinds, runner, rate: jobRate, newId, now });
  const { orders: reconciliations, schedule } = reconciliation.connect(runner);
  const silences = new Silences({ store, activity, functionNos: functions.functionNos, now });
  const alerts = createAlerts(parts, silences);
  return { jobs, reconciliations, alerts, silences, work: [runner, schedule, alerts] };
}

function createKinds({ store, directory, functions, replay, drill, archive, sourceName, now }: JobsAndAlertsParts): JobKind[] {
  const { runs, jobStarts, cancelErased, functionId } = functions;
  const webhooks = () => directory.webhooks();
  const environment = (id: Environment["id"]) => directory.environment(id);
  return [
    replayEvents({ store, sourceName, ...jobStarts }),
    rerunRuns({ store, runs, ...jobStarts }),
    eraseEvents({ store, sourceName, cancel: cancelErased, gatheringWithout, archive, environment }),
    cancelRuns({ store, runs, cancel: runs.cancel }),
    replayRequests({ store, replay, isOverSoon, webhooks, environmentName: (id) => environment(id)?.name ?? "" }),
    drillWebhook({ store, drill, webhooks, environment, functionId, now }),
  ];
}

function createAlerts({ store, directory, functions, quotaUsed, log, now }: JobsAndAlertsParts, silences: Silences): AlertWatch {
  const archiveFailingSince = (id: Environment["id"]) => databaseOf(store, id).store.retentionArchiveFailingSince();
  const measured = {
    store,
    now,
    functionNos: functions.functionNos,
    webhooks: () => directory.webhooks(),
    silences,
    quotaUsed,
    archiveFailingSince,
    driftEvent: DRIFT_EVENT,
  };
  const leadership = { work: "alerts", node: store.storeNode };
  return new AlertWatch({
    store,
    log,
    now,
    internal: functions.internal,
    take: functions.take,
    measure: (rule) => measure(measured, rule),
    environment: (id) => directory.environment(id),
    takeLeadership: (forMs) => store.leadershipTake({ ...leadership, now: now(), until: now() + forMs }),
  });
}
