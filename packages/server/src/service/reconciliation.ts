/** Reconciliation: how what providers list is asked for and taken in, as jobs, on demand and by itself. */

import type { EventIdGenerator, JobId } from "@inlet/protocol";
import type { Logger } from "pino";
import type { AppCaller } from "../execute/call/call-app.ts";
import type { ItemIntake } from "../flows/reconcile-item.ts";
import type { JobKind } from "../jobs/job-kind.ts";
import type { JobRunner } from "../jobs/job-runner.ts";
import { type ReconcileWebhookParts, reconcileWebhook } from "../jobs/kinds/reconcile-webhook.ts";
import { createReconcileOrders, type ReconcileOrders, seriesOf } from "../jobs/reconcile-orders.ts";
import type { Directory } from "../receive/senders/directory.ts";
import { PAGE_LIMITS } from "../reconcile/ask-page.ts";
import { type ListPageParts, listPage } from "../reconcile/list-page.ts";
import { PageTokens } from "../reconcile/page-tokens.ts";
import { ReconcileSchedule } from "../reconcile/reconcile-schedule.ts";
import type { Store, Webhook } from "../store/contract/index.ts";
import type { TransformRunner } from "../transform/index.ts";

export interface ReconciliationParts {
  store: Store;
  directory: Directory;
  transforms: TransformRunner;
  caller: Pick<AppCaller, "fetch">;
  intake: ItemIntake;
  /** Items per second. */
  jobRate: number;
  /** Ends what is asked of providers. */
  stopping: AbortSignal;
  ids: EventIdGenerator;
  log: Logger;
  now: () => number;
}

export interface ReconciliationWork {
  kind: JobKind;
  /** Once there is a runner for its jobs. */
  connect(runner: JobRunner): { orders: ReconcileOrders; schedule: ReconcileSchedule };
}

export function createReconciliation(parts: ReconciliationParts): ReconciliationWork {
  const { store, directory, intake, jobRate, stopping, ids, log, now } = parts;
  const pages = pageParts(parts);
  const list: ReconcileWebhookParts["listPage"] = (webhook, ...page) => listPage(pages, webhook, ...page);
  const newId = () => ids.next(now()) as string as JobId;
  const leadership = { work: "reconcile", node: store.storeNode };
  return {
    kind: reconcileWebhook({ store, ...intake, webhooks: () => directory.webhooks(), listPage: list, now }),
    connect(runner) {
      const orders = createReconcileOrders({ examine: intake.examine, listPage: list, runner, rate: jobRate, stopping, newId, now });
      const schedule = new ReconcileSchedule({
        store,
        log,
        now,
        webhooks: () => directory.webhooks().filter((webhook) => isActive(directory, webhook)),
        isOpen: (webhook) => store.jobSeriesIsOpen({ environmentId: webhook.environmentId, series: seriesOf(webhook) }),
        order: orders.order,
        takeLeadership: (forMs) => store.leadershipTake({ ...leadership, now: now(), until: now() + forMs }),
      });
      return { orders, schedule };
    },
  };
}

function pageParts({ store, transforms, caller, now }: ReconciliationParts): ListPageParts {
  return {
    runner: transforms,
    tokens: new PageTokens(),
    now,
    fetch: (request) => caller.fetch({ ...request, peer: "provider", timeoutMs: PAGE_LIMITS.timeoutMs, isBodySecret: true }),
    async isStored({ environmentId }, dedupId) {
      const { events } = await store.eventList({ environmentId, dedupId, internal: false, limit: 1 });
      return events.length > 0;
    },
  };
}

function isActive(directory: Directory, { enabled, environmentId }: Webhook): boolean {
  return enabled && directory.environment(environmentId)?.archivedAt === null;
}
