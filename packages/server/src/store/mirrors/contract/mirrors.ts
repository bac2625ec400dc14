/** Events of webhooks that are still to be copied to branch environments: recorded by eventAppend, in the transaction of the event. */

import type { EnvironmentId, EventId, WebhookId } from "@inlet/protocol";

export interface PendingMirror {
  /** The environment of the event itself. */
  environmentId: EnvironmentId;
  eventId: EventId;
  webhookId: WebhookId;
  targets: readonly EnvironmentId[];
}

export type MirrorCursor = Pick<PendingMirror, "environmentId" | "eventId">;

export interface MirrorStore {
  /** Oldest first, of every environment; `after`: the last of the page before. */
  mirrorList(params: { limit: number; after?: MirrorCursor | null }): Promise<PendingMirror[]>;
  /** Some copies are stored: only these targets are left. */
  mirrorKeep(params: Pick<PendingMirror, "environmentId" | "eventId" | "targets">): Promise<void>;
  /** Called when the copies are stored. */
  mirrorRemove(params: { environmentId: EnvironmentId; eventId: EventId }): Promise<void>;
}
