/** Sweeper: lets the store prepare for what is coming, and drop what is old in large pieces, before others remove the rest. */

import type { RetentionStore, RetentionTendParams } from "../store/contract/index.ts";
import { Sweeper, type SweeperSettings } from "./sweeper.ts";

export interface TendStoreParts extends SweeperSettings, Pick<RetentionTendParams, "keptMs"> {
  store: Pick<RetentionStore, "retentionTend">;
  now(): number;
}

export function tendStore({ store, now, keptMs, ...parts }: TendStoreParts): Sweeper {
  return new Sweeper({
    ...parts,
    what: "old partitions",
    async removeSome() {
      await store.retentionTend({ now: now(), keptMs });
      return 0;
    },
  });
}
