/** Sweeper: lets the store create the partitions needed next and drop expired ones, before other sweepers remove single rows. */

import type { RetentionMaintainParams, RetentionStore } from "../store/contract/index.ts";
import { Sweeper, type SweeperSettings } from "./sweeper.ts";

export interface MaintainPartitionsParts extends SweeperSettings {
  /** The longest retention time of a kind of data. */
  longestKept(): Promise<RetentionMaintainParams["keptMs"]>;
  store: Pick<RetentionStore, "retentionMaintain">;
  now(): number;
}

export function maintainPartitions({ store, now, longestKept, ...parts }: MaintainPartitionsParts): Sweeper {
  return new Sweeper({
    ...parts,
    what: "old partitions",
    async removeSome() {
      await store.retentionMaintain({ now: now(), keptMs: await longestKept() });
      return 0;
    },
  });
}
