/** Sweeper: removes events past their retention time, unless they are still needed. */

import type { RetentionStore } from "../store/contract/index.ts";
import { type ExpireOldParts, expireOld } from "./expire-old.ts";
import type { Sweeper } from "./sweeper.ts";

export function expireEvents({ store, ...parts }: ExpireOldParts & { store: Pick<RetentionStore, "eventExpireMany"> }): Sweeper {
  return expireOld({ ...parts, what: "old events", perTransaction: 100, removeSome: store.eventExpireMany });
}
