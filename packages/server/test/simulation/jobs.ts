/** The jobs of one process: those about runs and events, worked on as the service does. */

import { createEventIdGenerator, type JobId } from "@inlet/protocol";
import type { Logger } from "pino";
import type { JobsPart } from "../../src/api/jobs/read-job-request.ts";
import { gatheringWithout } from "../../src/fan-out/starts/decide-start.ts";
import type { ItemIntake } from "../../src/flows/reconcile-item.ts";
import { JobRunner } from "../../src/jobs/job-runner.ts";
import { createJobs } from "../../src/jobs/jobs.ts";
import { cancelRuns } from "../../src/jobs/kinds/cancel-runs.ts";
import { type DrillWebhookParts, drillWebhook } from "../../src/jobs/kinds/drill-webhook.ts";
import { eraseEvents } from "../../src/jobs/kinds/erase-events.ts";
import { type ReconcileWebhookParts, reconcileWebhook } from "../../src/jobs/kinds/reconcile-webhook.ts";
import { replayEvents } from "../../src/jobs/kinds/replay-events.ts";
import { type ReplayRequestsParts, replayRequests } from "../../src/jobs/kinds/replay-requests.ts";
import { rerunRuns } from "../../src/jobs/kinds/rerun-runs.ts";
import { createReconcileOrders, type ReconcileOrders } from "../../src/jobs/reconcile-orders.ts";
import { isOverSoon } from "../../src/receive/quotas/quota-refusal.ts";
import type { Directory } from "../../src/receive/senders/directory.ts";
import type { ListedPage } from "../../src/reconcile/list-page.ts";
import type { ListedItem } from "../../src/reconcile/listed-item.ts";
import type { Functions } from "../../src/service/functions.ts";
import type { Environment, Store } from "../../src/store/contract/index.ts";
import { now } from "./virtual-time.ts";

const RATE = 100;
const ITEMS_PER_PAGE = 5;

export interface SimJobs {
  jobs: JobsPart;
  reconciliation: ReconcileOrders;
  runner: JobRunner;
}

export interface SimJobsParts {
  store: Store;
  functions: Functions;
  directory: Directory;
  log: Logger;
  leaseMs: number;
  intake: ItemIntake;
  /** What the provider of the webhook lists. */
  listed: readonly ListedItem[];
  replay: ReplayRequestsParts["replay"];
  drill: DrillWebhookParts["drill"];
}

export function createSimJobs({ store, functions, directory, log, leaseMs, intake, listed, replay, drill }: SimJobsParts): SimJobs {
  const { runs, jobStarts } = functions;
  const listPage: ReconcileWebhookParts["listPage"] = async (_, __, state) => pageOf(listed, Number(state ?? 0));
  const webhooks = () => directory.webhooks();
  const environment = (id: Environment["id"]) => directory.environment(id);
  const kinds = [
    replayEvents({ store, sourceName: () => "", ...jobStarts }),
    rerunRuns({ store, runs, ...jobStarts }),
    eraseEvents({
      store,
      sourceName: () => "",
      cancel: functions.cancelErased,
      gatheringWithout,
      archive: null,
      environment: () => undefined,
    }),
    cancelRuns({ store, runs, cancel: runs.cancel }),
    reconcileWebhook({ store, ...intake, webhooks, listPage, now }),
    replayRequests({ store, replay, isOverSoon, webhooks, environmentName: (id) => environment(id)?.name ?? "" }),
    drillWebhook({ store, drill, webhooks, environment, functionId: functions.functionId, now }),
  ];
  const runner = new JobRunner({ store, kinds, environment, leaseMs, log, now });
  const ids = createEventIdGenerator();
  const newId = () => ids.next(now()) as string as JobId;
  const stopping = new AbortController().signal;
  const reconciliation = createReconcileOrders({ examine: intake.examine, listPage, runner, rate: RATE, stopping, newId, now });
  return { runner, reconciliation, jobs: createJobs({ store, kinds, runner, rate: RATE, newId, now }) };
}

/** A provider lists what there is: a page may be longer than it was when it was asked for before. */
function pageOf(listed: readonly ListedItem[], from: number): ListedPage {
  const items = listed.slice(from, from + ITEMS_PER_PAGE);
  return { items, seen: 0, next: items.length < ITEMS_PER_PAGE ? null : String(from + ITEMS_PER_PAGE) };
}
