/** A webhook as the service describes it. */

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

/** What the service has in one environment. */
export interface ServerList {
  /** As it was asked for; null asks for the server's default one. */
  environment: string | null;
  webhooks: readonly ServerWebhook[];
}
