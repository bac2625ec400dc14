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
}

/** The webhooks of one environment. */
export interface ServerList {
  /** The requested environment; null for the server's default. */
  environment: string | null;
  webhooks: readonly ServerWebhook[];
}
