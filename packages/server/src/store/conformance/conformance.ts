/** What every engine must do: the definition of the store. Each engine's test file runs this with its own way to open a store. */

import { admissionConformance } from "./admissions.ts";
import { appConformance } from "./apps.ts";
import { auditConformance } from "./audit-log.ts";
import { dedupConformance } from "./dedup.ts";
import type { Engine } from "./engine.ts";
import { environmentConformance } from "./environments.ts";
import { eventAppendConformance } from "./event-append.ts";
import { eventReadConformance } from "./event-read.ts";
import { eventTypeConformance } from "./event-types.ts";
import { functionStartConformance } from "./function-starts.ts";
import { idempotencyConformance } from "./idempotency-keys.ts";
import { jobConformance } from "./jobs.ts";
import { keyConformance } from "./keys.ts";
import { limitConformance } from "./limits.ts";
import { orderConformance } from "./orders.ts";
import { pageBytesConformance } from "./page-bytes.ts";
import { queueConformance } from "./queue.ts";
import { retentionConformance } from "./retention.ts";
import { runAdvanceConformance } from "./run-advance.ts";
import { runCallConformance } from "./run-calls.ts";
import { runReadConformance } from "./run-read.ts";
import { runStartConformance } from "./run-start.ts";
import { runWaitConformance } from "./run-waits.ts";
import { sessionConformance } from "./sessions.ts";
import { signalConformance } from "./signals.ts";
import { trafficConformance } from "./traffic.ts";
import { webhookConformance } from "./webhooks.ts";

export function storeConformance(engine: Engine): void {
  eventAppendConformance(engine);
  eventReadConformance(engine);
  pageBytesConformance(engine);
  dedupConformance(engine);
  environmentConformance(engine);
  keyConformance(engine);
  sessionConformance(engine);
  auditConformance(engine);
  idempotencyConformance(engine);
  eventTypeConformance(engine);
  trafficConformance(engine);
  webhookConformance(engine);
  appConformance(engine);
  queueConformance(engine);
  limitConformance(engine);
  admissionConformance(engine);
  orderConformance(engine);
  runStartConformance(engine);
  runAdvanceConformance(engine);
  runWaitConformance(engine);
  signalConformance(engine);
  functionStartConformance(engine);
  runCallConformance(engine);
  runReadConformance(engine);
  jobConformance(engine);
  retentionConformance(engine);
}
