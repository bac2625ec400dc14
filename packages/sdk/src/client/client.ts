/** What functions need of the client they belong to, whatever its schemas. */

import type { EventPayload, EventSchemas } from "../events/event-types.ts";
import type { SentSignal } from "../events/sent-signal.ts";
import type { Realtime } from "./realtime.ts";
import type { Settings } from "./settings.ts";

export interface Client {
  readonly id: string;
  readonly settings: Settings;
  readonly schemas: EventSchemas;
  readonly validates: boolean;
  sendSignal(signal: SentSignal): Promise<{ runId: string | null }>;
  readonly realtime: Pick<Realtime, "publish">;
  sendAs(events: EventPayload | readonly EventPayload[], as: { seed?: string; runId?: string | undefined }): Promise<{ ids: string[] }>;
}
