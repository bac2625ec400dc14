/** The part of the client that functions need, whatever its schemas. */

import type { EventPayload, EventSchemas } from "../events/event-types.ts";
import type { SentSignal } from "../events/sent-signal.ts";
import type { Sessions } from "../events/sessions.ts";
import type { Middleware } from "../middleware/middleware.ts";
import type { Realtime } from "./realtime.ts";
import type { Settings } from "./settings.ts";

/** The run on whose behalf events are sent. */
export interface SendAs {
  seed?: string;
  runId?: string | undefined;
  /** Of the run. */
  sessions?: Sessions | undefined;
}

export interface Client {
  readonly id: string;
  readonly settings: Settings;
  readonly schemas: EventSchemas;
  readonly validates: boolean;
  readonly sessionPropagation: boolean;
  readonly middleware: readonly Middleware[];
  sendSignal(signal: SentSignal): Promise<{ runId: string | null }>;
  readonly realtime: Pick<Realtime, "publish">;
  sendAs(events: EventPayload | readonly EventPayload[], as: SendAs): Promise<{ ids: string[] }>;
}
