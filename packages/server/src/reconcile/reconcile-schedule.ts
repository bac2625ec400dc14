/**
 * Orders the passes that come by themselves: for each webhook one every `every`, first one `every` after its settings were set or changed,
 * on one node of a cluster. A pass asks from `lookBack` before its start; the first after a downtime from `lookBack` before that.
 */

import { parseDuration } from "@inlet/protocol";
import type { Logger } from "pino";
import type { ReconciliationStore, Webhook, WebhookReconcile } from "../store/contract/index.ts";

export interface ReconcileScheduleParts {
  store: Pick<ReconciliationStore, "reconciliationLastScheduled">;
  /** Webhooks that may be reconciled now. */
  webhooks(): readonly Webhook[];
  /** Whether a pass of the webhook is ordered and has not ended. */
  isOpen(webhook: Webhook): Promise<boolean>;
  order(webhook: Webhook, pass: { since: number; until: number; isScheduled: true }): Promise<unknown>;
  takeLeadership(forMs: number): Promise<boolean>;
  log: Logger;
  now(): number;
  everyMs?: number;
}

const EVERY_MS = 1_000;
/** A node that was refused the leadership asks again after this time. */
const LEADERSHIP_MS = 10_000;

export class ReconcileSchedule {
  readonly #parts: ReconcileScheduleParts;
  readonly #startedAt: number;
  /** When the next pass of each webhook is due, as far as this node knows. */
  readonly #dueAt = new Map<string, number>();
  #timer: NodeJS.Timeout | null = null;
  #polling: Promise<void> = Promise.resolve();
  #isBusy = false;

  constructor(parts: ReconcileScheduleParts) {
    this.#parts = parts;
    this.#startedAt = parts.now();
  }

  start(): void {
    this.#timer ??= setInterval(() => {
      if (!this.#isBusy) this.#polling = this.#poll();
    }, this.#parts.everyMs ?? EVERY_MS).unref();
  }

  async stop(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer);
    await this.#polling;
  }

  async #poll(): Promise<void> {
    this.#isBusy = true;
    try {
      for (const webhook of this.#parts.webhooks()) if (webhook.reconcile) await this.#consider(webhook, webhook.reconcile);
    } catch (error) {
      this.#parts.log.debug({ err: error }, "passes of reconciliation could not be ordered; this is tried again");
    } finally {
      this.#isBusy = false;
    }
  }

  async #consider(webhook: Webhook, reconcile: WebhookReconcile): Promise<void> {
    const { store, isOpen, order, takeLeadership, now } = this.#parts;
    const key = `${webhook.id} ${reconcile.setAt}`;
    const at = now();
    if ((this.#dueAt.get(key) ?? 0) > at) return;
    const last = await store.reconciliationLastScheduled({ environmentId: webhook.environmentId, webhookId: webhook.id });
    const due = duePass(reconcile, last, { now: at, startedAt: this.#startedAt });
    this.#dueAt.set(key, due.at);
    if (due.at > at || (await isOpen(webhook))) return;
    if (!(await takeLeadership(LEADERSHIP_MS))) {
      this.#dueAt.set(key, at + LEADERSHIP_MS / 2);
      return;
    }
    await order(webhook, { since: due.since, until: at, isScheduled: true });
  }
}

/** When the next pass is due, and from when on it asks if that is now. `last`: when the last one was ordered; null: there was none. */
export function duePass(
  { every, lookBack, setAt }: Pick<WebhookReconcile, "every" | "lookBack" | "setAt">,
  last: number | null,
  { now, startedAt }: { now: number; startedAt: number },
): { at: number; since: number } {
  const [everyMs, lookBackMs] = [parseDuration(every) ?? 0, parseDuration(lookBack) ?? 0];
  const before = Math.max(setAt, last ?? 0);
  // This node, or its store, may have been away since then.
  const wasAway = startedAt > before || now - before > 2 * everyMs + EVERY_MS * 10;
  return { at: before + everyMs, since: (wasAway ? Math.min(before, now) : now) - lookBackMs };
}
