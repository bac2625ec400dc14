/** What works beside requests: jobs, alerts, reconciliation, moves, copies of events, sweepers, and what is counted and written later. */

import { ShapeObserver } from "../catalogue/shape-observer.ts";
import type { Config } from "../config/config.ts";
import type { AppCaller } from "../execute/call/call-app.ts";
import { createQuotaUsage, createQuotaUsed } from "../flows/quota-usage.ts";
import { reportDrift } from "../flows/report-drift.ts";
import { MoveEnvironments } from "../maintenance/move-environments.ts";
import { StoredBytesMeter } from "../maintenance/stored-bytes.ts";
import type { EventSource, Store } from "../store/contract/index.ts";
import type { TransformRunner } from "../transform/index.ts";
import type { Foundation } from "./foundation.ts";
import type { Functions } from "./functions.ts";
import { createJobsAndAlerts, type JobsAndAlerts } from "./jobs-and-alerts.ts";
import { type BackgroundService, createMaintenance, type MaintenanceParts } from "./maintenance.ts";
import type { Observation } from "./observation.ts";
import type { Receiving } from "./receiving.ts";
import { createReconciliation } from "./reconciliation.ts";

export interface BackgroundParts extends Foundation, Pick<MaintenanceParts, "log" | "now"> {
  config: Config;
  store: Store;
  functions: Functions;
  transforms: TransformRunner;
  observation: Observation;
  receiving: Receiving;
  caller: AppCaller;
  /** Ends what is asked of providers. */
  stopping: AbortSignal;
  /** How often sweepers run; absent: the usual. */
  sweepEveryMs?: number | undefined;
}

export interface Background extends JobsAndAlerts {
  sourceName(source: EventSource): string;
  usageOf: ReturnType<typeof createQuotaUsage>;
  shapes: ShapeObserver;
  maintenance: BackgroundService[];
}

export function createBackground(parts: BackgroundParts): Background {
  const { config, store, directory, functions, catalogue, ids, log, now } = parts;
  const { traffic, activity, usage, eventTypeCounter, queueHistory, metrics } = parts.observation;
  const { quotas, mirror, replay, drill, intake } = parts.receiving;
  const { jobRate } = config;
  const meter = new StoredBytesMeter({ store, now });
  const usageOf = createQuotaUsage({ store, quotas, calls: functions, meter, now });
  const shapes = new ShapeObserver({ store, log, onDrift: (...drift) => reportDrift({ store, functions, ids, now }, ...drift) });
  const sourceName = (source: EventSource) =>
    source.kind === "function" ? functions.functionName(source.id) : directory.sourceName(source);
  const { work, ...jobsAndAlerts } = createJobsAndAlerts({
    ...parts,
    reconciliation: createReconciliation({ ...parts, intake, jobRate }),
    activity,
    quotaUsed: createQuotaUsed((id) => directory.environment(id), usageOf),
    replay,
    drill,
    sourceName,
    jobRate,
    leaseMs: config.lease,
  });
  const sweepers = createMaintenance({ ...parts, meter, everyMs: parts.sweepEveryMs });
  return {
    ...jobsAndAlerts,
    sourceName,
    usageOf,
    shapes,
    work: [...work, mirror, new MoveEnvironments({ store, log, now })],
    maintenance: [...sweepers, quotas, traffic, activity, usage, eventTypeCounter, catalogue, shapes, queueHistory, metrics],
  };
}
