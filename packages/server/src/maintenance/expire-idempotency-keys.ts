/** Sweeper: forgets calls that were remembered for their idempotency keys. */

import type { IdempotencyStore } from "../store/contract/index.ts";
import { Sweeper, type SweeperSettings } from "./sweeper.ts";

export interface ExpireIdempotencyKeysParts extends SweeperSettings {
  store: IdempotencyStore;
  /** Calls started at or before the returned instant are forgotten. */
  startedUntil: () => number;
}

export function expireIdempotencyKeys({ store, startedUntil, ...parts }: ExpireIdempotencyKeysParts): Sweeper {
  return new Sweeper({
    ...parts,
    what: "old idempotency keys",
    removeSome: (limit) => store.idempotencyExpireMany({ startedUntil: startedUntil(), limit }),
  });
}
