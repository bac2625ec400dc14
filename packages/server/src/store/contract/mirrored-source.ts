/** The source of an event that was mirrored into a branch: that of the webhook, with a mark. Events of the webhook itself are told apart by it. */

import type { EventSource } from "./events.ts";

const MARK = "+mirrored";

export function mirroredSource(webhookId: string): EventSource {
  return { kind: "webhook", id: `${webhookId}${MARK}` };
}

/** The source that an event was mirrored from, and whether it was. */
export function readMirrored({ kind, id }: EventSource): { source: EventSource; isMirrored: boolean } {
  const isMirrored = kind === "webhook" && id.endsWith(MARK);
  return { source: isMirrored ? { kind, id: id.slice(0, -MARK.length) } : { kind, id }, isMirrored };
}
