/** The source of an event that was mirrored to a branch: that of the webhook, with a suffix that distinguishes it from the webhook's own events. */

import type { EventSource } from "../../events/contract.ts";

const SUFFIX = "+mirrored";

export function mirroredSource(webhookId: string): EventSource {
  return { kind: "webhook", id: `${webhookId}${SUFFIX}` };
}

/** The source that an event was mirrored from, and whether it was mirrored. */
export function readMirrored({ kind, id }: EventSource): { source: EventSource; isMirrored: boolean } {
  const isMirrored = kind === "webhook" && id.endsWith(SUFFIX);
  return { source: isMirrored ? { kind, id: id.slice(0, -SUFFIX.length) } : { kind, id }, isMirrored };
}
