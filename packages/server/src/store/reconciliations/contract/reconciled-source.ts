/** The source of an event that a provider listed: that of the webhook, with a suffix that tells it from events of requests that were received. */

import type { EventSource } from "../../events/contract.ts";

const SUFFIX = "+reconciled";

export function reconciledSource(webhookId: string): EventSource {
  return { kind: "webhook", id: `${webhookId}${SUFFIX}` };
}

/** The webhook as the source of an event, and whether the event was found in what the provider lists. */
export function readReconciled({ kind, id }: EventSource): { source: EventSource; isReconciled: boolean } {
  const isReconciled = kind === "webhook" && id.endsWith(SUFFIX);
  return { source: isReconciled ? { kind, id: id.slice(0, -SUFFIX.length) } : { kind, id }, isReconciled };
}
