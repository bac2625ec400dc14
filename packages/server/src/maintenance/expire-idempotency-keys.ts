/** Sweeper: removes expired idempotency keys. */

import type { IdempotencyStore } from "../store/contract/index.ts";
import { Sweeper, type SweeperSettings } from "./sweeper.ts";

export interface ExpireIdempotencyKeysParts extends SweeperSettings {
  store: IdempotencyStore;
  /** Keys of requests started at or before the returned time have expired. */
  startedUntil: () => number;
}

export function expireIdempotencyKeys({ store, startedUntil, ...parts }: ExpireIdempotencyKeysParts): Sweeper {
  return new Sweeper({
    ...parts,
    what: "old idempotency keys",
    removeSome: (limit) => store.idempotencyExpireMany({ startedUntil: startedUntil(), limit }),
  });
}
