/** Sweeper: removes empty lanes of the queue. Each value of a concurrency key creates one. */

import type { QueueStore } from "../store/contract/index.ts";
import { Sweeper, type SweeperSettings } from "./sweeper.ts";

export interface ForgetLanesParts extends SweeperSettings {
  store: Pick<QueueStore, "queueLaneForgetMany">;
}

/** Scans all lanes in small transactions; those in use are skipped. */
export function forgetLanes({ store, ...parts }: ForgetLanesParts): Sweeper {
  let after = 0;
  return new Sweeper({
    ...parts,
    what: "unused lanes of the queue",
    async removeSome(limit) {
      const { reached } = await store.queueLaneForgetMany({ after, limit });
      after = reached ?? 0;
      return reached === null ? 0 : limit;
    },
  });
}
