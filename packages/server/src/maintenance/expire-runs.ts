/** Sweeper: removes ended runs past their retention time. */

import type { RetentionStore } from "../store/contract/index.ts";
import { type ExpireOldParts, expireOld } from "./expire-old.ts";
import type { Sweeper } from "./sweeper.ts";

export function expireRuns({ store, ...parts }: ExpireOldParts & { store: Pick<RetentionStore, "runExpireMany"> }): Sweeper {
  return expireOld({ ...parts, what: "old runs", perTransaction: 20, removeSome: store.runExpireMany });
}
