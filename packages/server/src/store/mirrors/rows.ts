/** Rows of events that are still to be copied, for both engines. */

import type { EnvironmentId, EventId, WebhookId } from "@inlet/protocol";
import type { PendingMirror } from "../contract/index.ts";

export interface MirrorRow {
  environment_id: EnvironmentId;
  event_id: EventId;
  webhook_id: WebhookId;
  /** JSON text of a list. */
  targets: string;
}

export function toPendingMirror(row: MirrorRow): PendingMirror {
  return { environmentId: row.environment_id, eventId: row.event_id, webhookId: row.webhook_id, targets: JSON.parse(row.targets) };
}

export function mirrorRow({ environmentId, eventId, webhookId, targets }: PendingMirror): MirrorRow {
  return { environment_id: environmentId, event_id: eventId, webhook_id: webhookId, targets: JSON.stringify(targets) };
}
