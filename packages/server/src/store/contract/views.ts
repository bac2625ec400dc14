/**
 * What people look at: lists, searches, figures, and what a stream sends to a client that catches up. Only these reads may be answered by a
 * read replica. They are asked for through `storeViews`, so whoever decides by what it reads (a claim, a check before a write, a job, a
 * sweeper, an alert) calls the same operation of the store itself and gets a response of the primary.
 */

import type { ApprovalStore } from "../approvals/contract.ts";
import type { AuditStore } from "../audit-log/contract.ts";
import type { CancellationStore } from "../cancellations/contract.ts";
import type { EventTypeStore } from "../event-types/contract.ts";
import type { EventStore } from "../events/contract.ts";
import type { FailureStateStore } from "../failure-states/contract.ts";
import type { JobStore } from "../jobs/contract.ts";
import type { OrderStore } from "../orders/contract.ts";
import type { QueueStore } from "../queue/contract.ts";
import type { RealtimeStore } from "../realtime/contract.ts";
import type { ReconciliationStore } from "../reconciliations/contract/reconciliations.ts";
import type { RunStore } from "../runs/contract/run-store.ts";
import type { SavedFilterStore } from "../saved-filters/contract.ts";
import type { TrafficStore } from "../traffic/contract.ts";
import type { UsageStore } from "../usage/contract.ts";
import type { WebhookRequestStore } from "../webhook-requests/contract.ts";
import type { WebhookStore } from "../webhooks/contract.ts";

type Viewed = ApprovalStore &
  AuditStore &
  CancellationStore &
  EventTypeStore &
  EventStore &
  FailureStateStore &
  JobStore &
  OrderStore &
  QueueStore &
  RealtimeStore &
  ReconciliationStore &
  RunStore &
  SavedFilterStore &
  TrafficStore &
  UsageStore &
  WebhookRequestStore &
  WebhookStore;

export const STORE_VIEWS = [
  "approvalCountOpen",
  "approvalList",
  "auditList",
  "cancellationList",
  "eventFollow",
  "eventGet",
  "eventList",
  "eventTypeGet",
  "eventTypeList",
  "eventTypeUnseenList",
  "failureStateList",
  "jobList",
  "orderHoldList",
  "queueDepths",
  "queueFunctionDepths",
  "realtimeRead",
  "reconciliationList",
  "runCountByEvent",
  "runCountByJob",
  "runFailures",
  "runGet",
  "runList",
  "runTimings",
  "savedFilterList",
  "trafficList",
  "usageList",
  "waitCountByFunction",
  "webhookRequestCounts",
  "webhookRequestFollow",
  "webhookRequestGet",
  "webhookRequestList",
  "webhookRequestOutcomes",
  "webhookVersionList",
] as const satisfies readonly (keyof Viewed)[];

export type StoreViews = Pick<Viewed, (typeof STORE_VIEWS)[number]>;

/** The views among the operations of a store. */
export function viewsOf(store: StoreViews): StoreViews {
  return Object.fromEntries(STORE_VIEWS.map((name) => [name, store[name]])) as unknown as StoreViews;
}
