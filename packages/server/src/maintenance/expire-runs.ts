/** Sweeper: removes runs that ended longer ago than they shall be kept. */

import type { RetentionStore } from "../store/contract/index.ts";
import { type ExpireOldParts, expireOld } from "./expire-old.ts";
import type { Sweeper } from "./sweeper.ts";

export function expireRuns({ store, ...parts }: ExpireOldParts & { store: Pick<RetentionStore, "runExpireMany"> }): Sweeper {
  return expireOld({ ...parts, what: "old runs", perTransaction: 20, removeSome: store.runExpireMany });
}
