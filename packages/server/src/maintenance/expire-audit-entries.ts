/**
 * Sweepers: after ninety days, remove audit entries of actions that change nothing. Entries of changes stay; what a tool changed has an
 * entry of its own.
 */

import type { AuditStore } from "../store/contract/index.ts";
import { Sweeper, type SweeperSettings } from "./sweeper.ts";

const KEPT_MS = 90 * 86_400_000;
const EXPIRING = {
  /** A key was valid at an address from which keys were guessed. */
  "key.proved": "old proofs of keys",
  "tool.called": "old tool calls",
} as const;

export interface ExpireAuditEntriesParts extends SweeperSettings {
  store: Pick<AuditStore, "auditExpireMany">;
  now(): number;
}

export function expireAuditEntries({ store, now, ...parts }: ExpireAuditEntriesParts): Sweeper[] {
  return Object.entries(EXPIRING).map(
    ([action, what]) =>
      new Sweeper({ ...parts, what, removeSome: (limit) => store.auditExpireMany({ action, until: now() - KEPT_MS, limit }) }),
  );
}
