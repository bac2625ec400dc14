/** Events of webhooks that are still to be copied into branch environments: noted by eventAppend, in the transaction of the event. */

import type { EnvironmentId, EventId, WebhookId } from "@inlet/protocol";

export interface PendingMirror {
  /** Where the event itself is. */
  environmentId: EnvironmentId;
  eventId: EventId;
  webhookId: WebhookId;
  targets: readonly EnvironmentId[];
}

export interface MirrorStore {
  /** Oldest first, of every environment. */
  mirrorList(params: { limit: number }): Promise<PendingMirror[]>;
  /** The copies are there. */
  mirrorRemove(params: { environmentId: EnvironmentId; eventId: EventId }): Promise<void>;
}
