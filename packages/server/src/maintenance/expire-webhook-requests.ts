/** Sweeper: removes records of webhook requests that are older than they shall be kept. */

import type { WebhookRequestStore } from "../store/contract/index.ts";
import { Sweeper, type SweeperSettings } from "./sweeper.ts";

export interface ExpireWebhookRequestsParts extends SweeperSettings {
  store: WebhookRequestStore;
  /** Requests received at or before the returned instant are removed. */
  receivedUntil: () => number;
}

export function expireWebhookRequests({ store, receivedUntil, ...parts }: ExpireWebhookRequestsParts): Sweeper {
  return new Sweeper({
    ...parts,
    what: "old records of webhook requests",
    removeSome: (limit) => store.webhookRequestExpireMany({ receivedUntil: receivedUntil(), limit }),
  });
}
