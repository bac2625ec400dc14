/** A webhook from the REST API. */

import type { AcceptList } from "@inlet/protocol";

export interface ServerWebhook {
  id: string;
  name: string;
  environment: string;
  url: string;
  transform: string;
  eventNames: AcceptList | null;
  ips: AcceptList | null;
  enabled: boolean;
  verify: ServerSettings | null;
  handshake: ServerSettings | null;
  answer: ServerSettings | null;
  mirror: ServerSettings | null;
  reconcile: ServerSettings | null;
  /** Absent from servers that know no such state. */
  state?: "ready" | "waiting_for_secret";
}

/** Secrets are shown by their last four characters. */
export interface ServerSettings {
  readonly [field: string]: unknown;
  secrets?: readonly { last4: string | null }[];
}

/** The webhooks of one environment. */
export interface ServerList {
  /** The requested environment; null for the server's default. */
  environment: string | null;
  webhooks: readonly ServerWebhook[];
}
