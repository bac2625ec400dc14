/** What every engine must do: the definition of the store. Each engine's test file runs this with its own way to open a store. */

import { activityConformance } from "../activity/conformance.ts";
import { admissionConformance } from "../admissions/conformance.ts";
import { alertConformance } from "../alerts/conformance.ts";
import { approvalConformance } from "../approvals/conformance.ts";
import { appConformance } from "../apps/conformance.ts";
import { auditConformance } from "../audit-log/conformance.ts";
import { cancellationConformance } from "../cancellations/conformance.ts";
import { databaseConformance } from "../databases/conformance.ts";
import { dedupConformance } from "../dedup-keys/conformance.ts";
import { environmentConformance } from "../environments/conformance.ts";
import { erasureConformance } from "../erasure/conformance.ts";
import { eventSchemaConformance } from "../event-schemas/conformance.ts";
import { eventTypeConformance } from "../event-types/conformance.ts";
import { eventAppendConformance } from "../events/conformance/append-events.ts";
import { eventReadConformance } from "../events/conformance/read-events.ts";
import { failureStateConformance } from "../failure-states/conformance.ts";
import { functionStartConformance } from "../function-starts/conformance.ts";
import { heldCallConformance } from "../held-calls/conformance.ts";
import { idempotencyConformance } from "../idempotency-keys/conformance.ts";
import { jobConformance } from "../jobs/conformance.ts";
import { keyConformance } from "../keys/conformance.ts";
import { limitConformance } from "../limits/conformance.ts";
import { mirrorConformance } from "../mirrors/conformance.ts";
import { orderConformance } from "../orders/conformance.ts";
import { queueConformance } from "../queue/conformance.ts";
import { realtimeConformance } from "../realtime/conformance.ts";
import { reconciliationConformance } from "../reconciliations/conformance.ts";
import { resumptionConformance } from "../resumptions/conformance.ts";
import { retentionConformance } from "../retention/conformance.ts";
import { runAdvanceConformance } from "../runs/conformance/advance-run.ts";
import { runReadConformance } from "../runs/conformance/read-runs.ts";
import { runCallConformance } from "../runs/conformance/run-calls.ts";
import { runStartConformance } from "../runs/conformance/start-runs.ts";
import { savedFilterConformance } from "../saved-filters/conformance.ts";
import { keyHashConformance } from "../secrets/conformance.ts";
import { sessionConformance } from "../sessions/conformance.ts";
import { signalConformance } from "../signals/conformance.ts";
import { trafficConformance } from "../traffic/conformance.ts";
import { usageConformance } from "../usage/conformance.ts";
import { runWaitConformance } from "../waits/conformance.ts";
import { webhookConformance } from "../webhooks/conformance.ts";
import { anyTextConformance } from "./any-text.ts";
import type { Engine } from "./engine.ts";
import { pageBytesConformance } from "./page-bytes.ts";

export function storeConformance(engine: Engine): void {
  eventConformance(engine);
  runConformance(engine);
}

/** Events, and who may send and read them. */
export function eventConformance(engine: Engine): void {
  anyTextConformance(engine);
  eventAppendConformance(engine);
  eventReadConformance(engine);
  pageBytesConformance(engine);
  dedupConformance(engine);
  environmentConformance(engine);
  databaseConformance(engine);
  keyConformance(engine);
  keyHashConformance(engine);
  sessionConformance(engine);
  auditConformance(engine);
  idempotencyConformance(engine);
  eventTypeConformance(engine);
  eventSchemaConformance(engine);
  trafficConformance(engine);
  usageConformance(engine);
  activityConformance(engine);
  webhookConformance(engine);
  reconciliationConformance(engine);
  mirrorConformance(engine);
  appConformance(engine);
}

/** Runs, and what works on them. */
export function runConformance(engine: Engine): void {
  queueConformance(engine);
  limitConformance(engine);
  admissionConformance(engine);
  orderConformance(engine);
  runStartConformance(engine);
  runAdvanceConformance(engine);
  runWaitConformance(engine);
  resumptionConformance(engine);
  signalConformance(engine);
  approvalConformance(engine);
  functionStartConformance(engine);
  runCallConformance(engine);
  runReadConformance(engine);
  heldCallConformance(engine);
  jobConformance(engine);
  failureStateConformance(engine);
  savedFilterConformance(engine);
  alertConformance(engine);
  cancellationConformance(engine);
  realtimeConformance(engine);
  retentionConformance(engine);
  erasureConformance(engine);
}

/** What a store of several databases asks of more than one of them, as far as runs on two databases do not show it. */
export function placementConformance(engine: Engine): void {
  environmentConformance(engine);
  eventTypeConformance(engine);
  eventSchemaConformance(engine);
  trafficConformance(engine);
  usageConformance(engine);
  activityConformance(engine);
  mirrorConformance(engine);
  orderConformance(engine);
  heldCallConformance(engine);
  alertConformance(engine);
  cancellationConformance(engine);
  retentionConformance(engine);
}
