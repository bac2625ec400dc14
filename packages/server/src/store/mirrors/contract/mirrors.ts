/** Events of webhooks that are still to be copied to branch environments: recorded by eventAppend, in the transaction of the event. */

import type { EnvironmentId, EventId, WebhookId } from "@inlet/protocol";

export interface PendingMirror {
  /** The environment of the event itself. */
  environmentId: EnvironmentId;
  eventId: EventId;
  webhookId: WebhookId;
  targets: readonly EnvironmentId[];
}

export interface MirrorStore {
  /** Oldest first, of every environment. */
  mirrorList(params: { limit: number }): Promise<PendingMirror[]>;
  /** Called when the copies are stored. */
  mirrorRemove(params: { environmentId: EnvironmentId; eventId: EventId }): Promise<void>;
}
