/**
 * The kind webhooks.reconcile: lists what a provider has sent, page by page, and takes what was never delivered. What is known already is
 * found while it is listed, and kept as a number only: a long list of known items takes no room.
 *
 * The Event ID of an item follows from the job and the item's position, so an item that is taken again after a crash is recovered once.
 */

import type { EnvironmentId, WebhookId } from "@inlet/protocol";
import type { ListedPage } from "../../reconcile/list-page.ts";
import { type ListedItem, type NotNow, readWrittenItem, type TakenItem, writeItem } from "../../reconcile/listed-item.ts";
import type { ListRange } from "../../reconcile/page-reader.ts";
import type { Job, JobError, JobItem, Reconciliation, ReconciliationStore, Webhook } from "../../store/contract/index.ts";
import { type FoundItem, InTheWay, type JobBatch, type JobKind } from "../job-kind.ts";
import { seedOfItem } from "./seed-of-item.ts";

export interface ReconcileWebhookParts {
  store: Pick<ReconciliationStore, "reconciliationAdd">;
  webhooks(): readonly Webhook[];
  listPage(webhook: Webhook, range: ListRange, state: string | null, stopping: AbortSignal): Promise<ListedPage>;
  examine(webhook: Webhook, item: ListedItem): Promise<TakenItem>;
  take(webhook: Webhook, item: ListedItem, seed: string): Promise<TakenItem | NotNow>;
  now(): number;
}

/** What a job of this kind is asked for. */
export interface ReconcileFilter extends ListRange {
  webhook: WebhookId;
  /** It came by itself. */
  scheduled?: true;
}

export const RECONCILE_KIND = "webhooks.reconcile";
/** The cursor of a list of which no page was asked for. */
export const FIRST_PAGE = "first";
const CLOSED = "The webhook has been deleted or disabled.";
/** An item that is known. */
const SEEN = 0;
const SAMPLED: FoundItem["sample"] = () => "null";
const EXAMINED_AT_ONCE = 10;
const BATCH_MAX = 100;

export function reconcileWebhook(parts: ReconcileWebhookParts): JobKind {
  return {
    kind: RECONCILE_KIND,
    filters: {},
    takesAll: false,
    asksOthers: true,
    batchMax: BATCH_MAX,
    unpaced: "seen",
    async find(environment, filter, cursor, stopping) {
      const { webhook: id, since, until } = filter as unknown as ReconcileFilter;
      const webhook = webhookOf(parts, environment.id, id);
      if (!webhook) return { found: [], next: null, error: CLOSED };
      const page = await parts.listPage(webhook, { since, until }, cursor === FIRST_PAGE ? null : cursor, stopping);
      const known = Array.from({ length: page.seen }, (): FoundItem => ({ item: SEEN, sample: SAMPLED }));
      return { found: [...known, ...(await examineAll(parts, webhook, page.items))], next: page.next, error: page.error };
    },
    async work(job, items) {
      const { webhook: id } = JSON.parse(job.filter) as ReconcileFilter;
      const webhook = webhookOf(parts, job.environmentId, id);
      if (webhook) return takeAll(parts, job, webhook, items);
      return { starts: [], failures: items.map(() => ({ item: null, message: CLOSED })) };
    },
    async settle(job) {
      await parts.store.reconciliationAdd(passOf(job, parts.now()));
      return undefined;
    },
    ended: (job) => parts.store.reconciliationAdd(passOf(job, parts.now())),
  };
}

function webhookOf({ webhooks }: ReconcileWebhookParts, environmentId: EnvironmentId, id: WebhookId): Webhook | undefined {
  return webhooks().find((webhook) => webhook.id === id && webhook.environmentId === environmentId && webhook.enabled);
}

async function examineAll(parts: ReconcileWebhookParts, webhook: Webhook, items: readonly ListedItem[]): Promise<FoundItem[]> {
  const found: FoundItem[] = [];
  for (let at = 0; at < items.length; at += EXAMINED_AT_ONCE) {
    const some = items.slice(at, at + EXAMINED_AT_ONCE);
    const examined = await Promise.all(some.map((item) => parts.examine(webhook, item)));
    for (const [index, item] of some.entries())
      found.push({ item: examined[index]?.kind === "seen" ? SEEN : writeItem(item), sample: SAMPLED });
  }
  return found;
}

/** In order: what the provider sent first is stored first. */
async function takeAll(parts: ReconcileWebhookParts, job: Job, webhook: Webhook, items: readonly JobItem[]): Promise<JobBatch> {
  const tally = { seen: 0, recovered: 0 };
  const failures: JobError[] = [];
  for (const [index, given] of items.entries()) {
    const position = job.total - job.done - 1 - index;
    const item = given === SEEN ? null : readWrittenItem(given as string);
    const taken: TakenItem | NotNow = item ? await parts.take(webhook, item, seedOfItem(job, String(position))) : { kind: "seen" };
    if (taken.kind === "not now") {
      if (index === 0) throw new InTheWay(taken.message);
      return { starts: [], failures, tally, worked: index };
    }
    if (taken.kind === "failed") failures.push({ item: item?.id ?? String(position), message: taken.message });
    else tally[taken.kind]++;
  }
  return { starts: [], failures, tally };
}

/** The pass that a job was. */
function passOf(job: Job, now: number): Reconciliation {
  const { webhook, since, until, scheduled = false } = JSON.parse(job.filter) as ReconcileFilter;
  const cancelled = job.status === "cancelled" ? "The job was cancelled." : null;
  return {
    environmentId: job.environmentId,
    webhookId: webhook,
    jobId: job.id,
    at: now,
    startedAt: job.createdAt,
    since: Date.parse(since),
    until: Date.parse(until),
    isScheduled: scheduled,
    listed: job.total,
    seen: job.tally.seen ?? 0,
    recovered: job.tally.recovered ?? 0,
    failed: job.failed,
    error: job.errors.find(({ item }) => item === null)?.message ?? cancelled,
  };
}
