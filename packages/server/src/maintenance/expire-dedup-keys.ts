/** Sweeper: removes dedup keys whose window has passed, so that the table does not grow without bound. */

import type { DedupKeyStore } from "../store/contract/index.ts";
import { Sweeper, type SweeperSettings } from "./sweeper.ts";

export interface ExpireDedupKeysParts extends SweeperSettings {
  store: DedupKeyStore;
  /** Keys first seen at or before the returned time have expired. */
  seenUntil: () => number;
}

export function expireDedupKeys({ store, seenUntil, ...parts }: ExpireDedupKeysParts): Sweeper {
  return new Sweeper({
    ...parts,
    what: "expired dedup keys",
    removeSome: (limit) => store.dedupKeyExpireMany({ seenUntil: seenUntil(), limit }),
  });
}
