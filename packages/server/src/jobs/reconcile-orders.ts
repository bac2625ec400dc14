/** Orders passes of reconciliation as jobs, those of one webhook one after the other, and says what a pass would find. */

import type { JobId } from "@inlet/protocol";
import type { ReconcileCounts, ReconcilePart, ReconcileRange } from "../api/webhooks/reconcile-routes.ts";
import type { TakenItem } from "../reconcile/listed-item.ts";
import type { Job, Webhook } from "../store/contract/index.ts";
import type { JobRunner } from "./job-runner.ts";
import { FIRST_PAGE, RECONCILE_KIND, type ReconcileFilter, type ReconcileWebhookParts } from "./kinds/reconcile-webhook.ts";

export interface ReconcileOrdersParts extends Pick<ReconcileWebhookParts, "listPage"> {
  /** What would become of an item; `key` is the same for items that are one. */
  examine(webhook: Webhook, item: Parameters<ReconcileWebhookParts["examine"]>[1]): Promise<TakenItem & { key: string }>;
  runner: Pick<JobRunner, "enqueue">;
  /** Items per second. */
  rate: number;
  /** Ends what is asked of providers. */
  stopping: AbortSignal;
  newId(): JobId;
  now(): number;
}

/** Jobs of one webhook are one series. */
export function seriesOf({ id }: Pick<Webhook, "id">): string {
  return `${RECONCILE_KIND} ${id}`;
}

export interface ReconcileOrders extends ReconcilePart {
  order(webhook: Webhook, range: ReconcileRange & { isScheduled?: boolean }): Promise<Job>;
}

export function createReconcileOrders(parts: ReconcileOrdersParts): ReconcileOrders {
  const { runner, rate, newId, now } = parts;
  return {
    order(webhook, { since, until, isScheduled = false }) {
      const filter: ReconcileFilter = { webhook: webhook.id, ...written({ since, until }), ...(isScheduled && { scheduled: true }) };
      return runner.enqueue({
        id: newId(),
        environmentId: webhook.environmentId,
        kind: RECONCILE_KIND,
        filter: JSON.stringify(filter),
        functionId: null,
        rate,
        createdAt: now(),
        items: [],
        listCursor: FIRST_PAGE,
        series: seriesOf(webhook),
        isScheduled,
      });
    },
    preview: (webhook, range) => preview(parts, webhook, range),
  };
}

async function preview(
  { listPage, examine, stopping }: ReconcileOrdersParts,
  webhook: Webhook,
  range: ReconcileRange,
): Promise<ReconcileCounts> {
  const counts = { listed: 0, seen: 0, recovered: 0, failed: 0 };
  const known = new Set<string>();
  let state: string | null = null;
  for (;;) {
    const page = await listPage(webhook, written(range), state, stopping);
    counts.listed += page.items.length + page.seen;
    counts.seen += page.seen;
    for (const item of page.items) {
      const { kind, key } = await examine(webhook, item);
      // The second of two equal items is known by then.
      counts[kind === "recovered" && known.has(key) ? "seen" : kind]++;
      known.add(key);
    }
    if (page.next === null) return page.error === undefined ? counts : { ...counts, error: page.error };
    state = page.next;
  }
}

function written({ since, until }: ReconcileRange) {
  return { since: new Date(since).toISOString(), until: new Date(until).toISOString() };
}
