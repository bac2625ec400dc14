/** Sweeper: lets the store create the partitions needed next and drop expired ones, before other sweepers remove single rows. */

import type { RetentionStore, RetentionTendParams } from "../store/contract/index.ts";
import { Sweeper, type SweeperSettings } from "./sweeper.ts";

export interface TendStoreParts extends SweeperSettings {
  /** The longest retention time of a kind of data. */
  longestKept(): Promise<RetentionTendParams["keptMs"]>;
  store: Pick<RetentionStore, "retentionTend">;
  now(): number;
}

export function tendStore({ store, now, longestKept, ...parts }: TendStoreParts): Sweeper {
  return new Sweeper({
    ...parts,
    what: "old partitions",
    async removeSome() {
      await store.retentionTend({ now: now(), keptMs: await longestKept() });
      return 0;
    },
  });
}
