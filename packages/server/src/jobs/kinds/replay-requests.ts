/**
 * The kind requests.replay: sends recorded webhook requests through the current transform. The Event ID follows from job and request:
 * a request that is replayed again after a crash makes the same event, which is stored once.
 */

import type { Refusal, WebhookRequestId } from "@inlet/protocol";
import { RestRefusal } from "../../api/rest-errors.ts";
import { REQUEST_FILTERS, type RequestFilterQuery, requestFilter } from "../../api/webhooks/request-filters.ts";
import { requestView } from "../../api/webhooks/request-view.ts";
import type { Environment, EventCursor, Job, JobError, Webhook, WebhookRequest, WebhookRequestStore } from "../../store/contract/index.ts";
import { InTheWay, type JobBatch, type JobKind, PAGE_ITEMS } from "../job-kind.ts";
import { seedOfItem } from "./seed-of-item.ts";

export interface ReplayRequestsParts {
  store: Pick<WebhookRequestStore, "webhookRequestGet" | "webhookRequestList">;
  webhooks(): readonly Webhook[];
  environmentName(id: Environment["id"]): string;
  /** `seed` fixes the id of the event. */
  replay(record: WebhookRequest, webhook: Webhook, seed: string): Promise<{ ids: readonly string[] } | { handshake: object } | Refusal>;
  /** It is refused by a quota that has room again soon. */
  isOverSoon(refusal: Refusal): boolean;
}

/** Faults of the service that end by themselves, however long they last: nothing is replayed meanwhile. */
const PASSING: ReadonlySet<string> = new Set(["disk_full", "store_unavailable"]);

export function replayRequests({ store, webhooks, environmentName, replay, isOverSoon }: ReplayRequestsParts): JobKind {
  const webhookOf = (environmentId: Environment["id"], id: unknown) =>
    webhooks().find((webhook) => webhook.id === id && webhook.environmentId === environmentId && webhook.deletedAt === null);

  async function replayOne(job: Job, webhook: Webhook, id: WebhookRequestId): Promise<JobError[] | InTheWay> {
    const record = await store.webhookRequestGet({ environmentId: webhook.environmentId, webhookId: webhook.id, id });
    if (!record) return [{ item: id, message: "The request has been removed." }];
    if (record.body === null) return [{ item: id, message: "The body of the request was too large to store." }];
    const answer = await replay(record, webhook, seedOfItem(job, id));
    if ("code" in answer && (PASSING.has(answer.code) || isOverSoon(answer))) return new InTheWay(answer.message);
    return "code" in answer ? [{ item: id, message: answer.message }] : [];
  }

  return {
    kind: "requests.replay",
    filters: { webhook: { type: "string", minLength: 1, description: "The id of the webhook." }, ...REQUEST_FILTERS },
    filtersRequired: ["webhook"],
    takesAll: false,
    batchMax: 10,
    async find(environment, filter, cursor) {
      const webhook = webhookOf(environment.id, filter.webhook);
      if (!webhook)
        throw new RestRefusal("webhook_not_found", `There is no webhook ${filter.webhook} in the environment "${environment.name}".`);
      const page = await store.webhookRequestList({
        environmentId: environment.id,
        webhookId: webhook.id,
        limit: PAGE_ITEMS,
        ...requestFilter(filter as RequestFilterQuery),
        ...(cursor !== null && { after: JSON.parse(cursor) as EventCursor }),
      });
      const sample = (record: WebhookRequest) => JSON.stringify(requestView(record, environmentName(record.deliveredTo)));
      return {
        found: page.requests.map((record) => ({ item: record.id, sample: () => sample(record) })),
        next: page.next && JSON.stringify(page.next),
      };
    },
    async work(job, items) {
      const webhook = webhookOf(job.environmentId, (JSON.parse(job.filter) as { webhook?: string }).webhook);
      const ids = items as readonly WebhookRequestId[];
      if (!webhook) return { starts: [], failures: ids.map((item) => ({ item, message: "The webhook has been deleted." })) };
      return upToWhatWaits(await Promise.all(ids.map((id) => replayOne(job, webhook, id))));
    },
  };
}

/** An item after the first one that waits may have been replayed: when it is given again, it makes the same event. */
function upToWhatWaits(replayed: readonly (JobError[] | InTheWay)[]): JobBatch {
  const failures: JobError[] = [];
  for (const [index, outcome] of replayed.entries()) {
    if (!(outcome instanceof InTheWay)) failures.push(...outcome);
    else if (index === 0) throw outcome;
    else return { starts: [], failures, worked: index };
  }
  return { starts: [], failures };
}
