/** Leadership at sweeping: one node of a cluster runs each kind of sweeper. */

import type { LeadershipStore, Store } from "../store/contract/index.ts";
import type { SweepLeadership } from "./sweeper.ts";

export function createSweepLeadership(store: LeadershipStore & Pick<Store, "storeNode">, now: () => number): SweepLeadership {
  const leadership = (what: string) => ({ work: `sweeper:${what}`, node: store.storeNode });
  return {
    now,
    async take(what, forMs) {
      const from = now();
      const until = from + forMs;
      return (await store.leadershipTake({ ...leadership(what), now: from, until })) ? until : null;
    },
    giveUp: (what) => store.leadershipResign(leadership(what)),
  };
}
