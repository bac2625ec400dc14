/** Sweeper: removes bulk cancellations that ended long ago. */

import type { CancellationStore } from "../store/contract/index.ts";
import { Sweeper, type SweeperSettings } from "./sweeper.ts";

export interface ExpireCancellationsParts extends SweeperSettings {
  store: CancellationStore;
  now(): number;
}

const KEPT_MS = 90 * 86_400_000;

export function expireCancellations({ store, now, ...parts }: ExpireCancellationsParts): Sweeper {
  return new Sweeper({
    ...parts,
    what: "old cancellations",
    removeSome: (limit) => store.cancellationExpireMany({ endedUntil: now() - KEPT_MS, limit }),
  });
}
