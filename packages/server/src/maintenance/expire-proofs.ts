/** Sweeper: after ninety days, removes audit entries that only record that a key was valid at an address from which keys were guessed. */

import type { AuditStore } from "../store/contract/index.ts";
import { Sweeper, type SweeperSettings } from "./sweeper.ts";

const KEPT_MS = 90 * 86_400_000;
const ACTION = "key.proved";

export interface ExpireProofsParts extends SweeperSettings {
  store: Pick<AuditStore, "auditExpireMany">;
  now(): number;
}

export function expireProofs({ store, now, ...parts }: ExpireProofsParts): Sweeper {
  return new Sweeper({
    ...parts,
    what: "old proofs of keys",
    removeSome: (limit) => store.auditExpireMany({ action: ACTION, until: now() - KEPT_MS, limit }),
  });
}
