/** Stores events that use quotas. Everything that accepts events from outside goes through here; internal events use no quota. */

import { Refusal } from "@inlet/protocol";
import type { QuotaLedger, QuotaRequest } from "../receive/quotas/quota-ledger.ts";
import type { EventAppendResult, EventBatch, EventStore } from "../store/contract/index.ts";

export interface AppendParts {
  store: Pick<EventStore, "eventAppend" | "eventCountNew">;
  quotas: Pick<QuotaLedger, "take">;
}

export async function appendWithinQuotas({ store, quotas }: AppendParts, batch: EventBatch): Promise<EventAppendResult | Refusal> {
  const taken = await quotas.take(quotaRequest(store, batch));
  if (taken instanceof Refusal) return taken;
  let stored: number | "unknown" = "unknown";
  try {
    const kept = await store.eventAppend(batch);
    stored = kept.ids.length - kept.duplicates;
    return kept;
  } finally {
    taken.settle(stored);
  }
}

/** Only events with ids of the sender can be duplicates. */
function quotaRequest(store: AppendParts["store"], batch: EventBatch): QuotaRequest {
  const { environmentId, receivedAt: at, events, bodyBytes = 0, idsFromSender } = batch;
  const mayRepeat = idsFromSender || events.some(({ dedupId }) => dedupId !== null);
  return { environmentId, at, events: events.length, bytes: bodyBytes, countNew: mayRepeat ? () => store.eventCountNew(batch) : null };
}
