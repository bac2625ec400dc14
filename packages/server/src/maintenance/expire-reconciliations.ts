/** Sweeper: removes passes of reconciliation that ended long ago. */

import type { ReconciliationStore } from "../store/contract/index.ts";
import { Sweeper, type SweeperSettings } from "./sweeper.ts";

export interface ExpireReconciliationsParts extends SweeperSettings {
  store: ReconciliationStore;
  now(): number;
}

const KEPT_MS = 90 * 86_400_000;

export function expireReconciliations({ store, now, ...parts }: ExpireReconciliationsParts): Sweeper {
  return new Sweeper({
    ...parts,
    what: "old passes of reconciliation",
    removeSome: (limit) => store.reconciliationExpireMany({ until: now() - KEPT_MS, limit }),
  });
}
