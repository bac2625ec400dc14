/**
 * What people look at: lists, searches, figures, and what a stream sends to a client that catches up. Only these reads may be answered by a
 * read replica. They are asked for through `storeViews`, so whoever decides by what it reads (a claim, a check before a write, a job, a
 * sweeper, an alert) calls the same operation of the store itself and gets an answer of the primary.
 */

import type { ApprovalStore } from "../approvals/contract.ts";
import type { AuditStore } from "../audit-log/contract.ts";
import type { EventTypeStore } from "../event-types/contract.ts";
import type { EventStore } from "../events/contract.ts";
import type { FailureStateStore } from "../failure-states/contract.ts";
import type { JobStore } from "../jobs/contract.ts";
import type { QueueStore } from "../queue/contract.ts";
import type { RealtimeStore } from "../realtime/contract.ts";
import type { RunStore } from "../runs/contract/runs.ts";
import type { SavedFilterStore } from "../saved-filters/contract.ts";
import type { TrafficStore } from "../traffic/contract.ts";
import type { UsageStore } from "../usage/contract.ts";
import type { WebhookRequestStore } from "../webhook-requests/contract.ts";

type Viewed = ApprovalStore &
  AuditStore &
  EventTypeStore &
  EventStore &
  FailureStateStore &
  JobStore &
  QueueStore &
  RealtimeStore &
  RunStore &
  SavedFilterStore &
  TrafficStore &
  UsageStore &
  WebhookRequestStore;

export const STORE_VIEWS = [
  "approvalCountOpen",
  "approvalList",
  "auditList",
  "eventFollow",
  "eventGet",
  "eventList",
  "eventTypeGet",
  "eventTypeList",
  "eventTypeUnseenList",
  "failureStateList",
  "jobList",
  "queueDepths",
  "queueFunctionDepths",
  "realtimeRead",
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
] as const satisfies readonly (keyof Viewed)[];

export type StoreViews = Pick<Viewed, (typeof STORE_VIEWS)[number]>;

/** The views among the operations of a store. */
export function viewsOf(store: StoreViews): StoreViews {
  return Object.fromEntries(STORE_VIEWS.map((name) => [name, store[name]])) as unknown as StoreViews;
}
