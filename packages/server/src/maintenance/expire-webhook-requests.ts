/** Sweeper: removes recorded webhook requests past their retention time. */

import type { WebhookRequestStore } from "../store/contract/index.ts";
import { type ExpireOldParts, expireOld } from "./expire-old.ts";
import type { Sweeper } from "./sweeper.ts";

export interface ExpireWebhookRequestsParts extends ExpireOldParts {
  store: Pick<WebhookRequestStore, "webhookRequestExpireMany">;
}

export function expireWebhookRequests({ store, ...parts }: ExpireWebhookRequestsParts): Sweeper {
  return expireOld({
    ...parts,
    what: "old records of webhook requests",
    perTransaction: 500,
    async removeSome({ until, limit, environmentId }) {
      const scope = environmentId === undefined ? {} : { environmentId };
      const removed = await store.webhookRequestExpireMany({ ...scope, receivedUntil: until, limit });
      return { removed, next: removed < limit ? null : "more" };
    },
  });
}
