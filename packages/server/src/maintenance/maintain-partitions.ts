/**
 * Sweeper: lets the store create the partitions needed next and drop expired ones, before other sweepers remove single rows. With an archive,
 * they are dropped once it has their rows.
 */

import type { PartitionArchive, RetentionMaintainParams, RetentionStore } from "../store/contract/index.ts";
import { Sweeper, type SweeperSettings } from "./sweeper.ts";

export interface MaintainPartitionsParts extends SweeperSettings {
  /** The longest retention time of a kind of data. */
  longestKept(): Promise<RetentionMaintainParams["keptMs"]>;
  store: Pick<RetentionStore, "retentionMaintain">;
  /** Null: nothing is archived. */
  archive?: PartitionArchive | null;
  now(): number;
}

export function maintainPartitions({ store, now, longestKept, archive, ...parts }: MaintainPartitionsParts): Sweeper {
  return new Sweeper({
    ...parts,
    what: "old partitions",
    async removeSome() {
      await store.retentionMaintain({ now: now(), keptMs: await longestKept(), ...(archive && { archive }) });
      return 0;
    },
  });
}
