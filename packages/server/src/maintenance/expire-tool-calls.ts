/** Sweeper: after ninety days, removes audit entries of tool calls. What a call changed has an entry of its own, which stays. */

import type { AuditStore } from "../store/contract/index.ts";
import { Sweeper, type SweeperSettings } from "./sweeper.ts";

const KEPT_MS = 90 * 86_400_000;
const ACTION = "tool.called";

export interface ExpireToolCallsParts extends SweeperSettings {
  store: Pick<AuditStore, "auditExpireMany">;
  now(): number;
}

export function expireToolCalls({ store, now, ...parts }: ExpireToolCallsParts): Sweeper {
  return new Sweeper({
    ...parts,
    what: "old tool calls",
    removeSome: (limit) => store.auditExpireMany({ action: ACTION, until: now() - KEPT_MS, limit }),
  });
}
