/** Leadership at sweeping: one node of a cluster runs each kind of sweeper. */

import type { LeadershipStore, Store } from "../store/contract/index.ts";
import type { SweepLeadership } from "./sweeper.ts";

export function createSweepLeadership(store: LeadershipStore & Pick<Store, "storeNode">, now: () => number): SweepLeadership {
  const leadership = (what: string) => ({ work: `sweeper:${what}`, node: store.storeNode });
  return {
    take: (what, forMs) => store.leadershipTake({ ...leadership(what), now: now(), until: now() + forMs }),
    giveUp: (what) => store.leadershipResign(leadership(what)),
  };
}
