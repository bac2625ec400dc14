/** Sweeper: lets the store prepare for what is coming, and drop what is old in large pieces, before others remove the rest. */

import type { RetentionStore, RetentionTendParams } from "../store/contract/index.ts";
import { Sweeper, type SweeperSettings } from "./sweeper.ts";

export interface TendStoreParts extends SweeperSettings {
  /** The longest that anything of a kind is kept. */
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
