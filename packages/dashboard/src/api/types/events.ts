/** Events, as the REST API responds with them. */

import type { JsonText } from "../json-text.ts";

export interface EventSource {
  kind: "key" | "webhook" | "function" | "internal";
  id: string;
  name: string;
  /** The run that sent it, or whose step or end caused it. */
  run?: string;
}

/** Where an event breaks the schema declared for its name. */
export interface SchemaFault {
  path?: string;
  message: string;
}

export interface EventItem {
  id: string;
  name: string;
  data: JsonText;
  ts: number;
  receivedAt: string;
  environment: string;
  source: EventSource;
  duplicates: number;
  /** No request brought it: it was found in what the provider lists. */
  isReconciled: boolean;
  dedupId: string | null;
  /** Empty: it matches the schema declared for its name, or was not checked. */
  schemaFaults: readonly SchemaFault[];
  /** Other fields that the sender set, as text: `v`, `user` and others. */
  extras: ReadonlyMap<string, JsonText>;
}
