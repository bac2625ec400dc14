/** Sweeper: removes approvals that ended longer ago than runs are kept. An open one is never removed. */

import type { ApprovalStore } from "../store/contract/index.ts";
import type { ExpireOldParts } from "./expire-old.ts";
import { expireOld } from "./expire-old.ts";
import type { Sweeper } from "./sweeper.ts";

export function expireApprovals({ store, ...parts }: ExpireOldParts & { store: Pick<ApprovalStore, "approvalExpireMany"> }): Sweeper {
  return expireOld({
    ...parts,
    what: "old approvals",
    perTransaction: 100,
    async removeSome({ environmentId, until, limit }) {
      const removed = await store.approvalExpireMany({ ...(environmentId !== undefined && { environmentId }), until, limit });
      return { removed, next: removed < limit ? null : String(until) };
    },
  });
}
