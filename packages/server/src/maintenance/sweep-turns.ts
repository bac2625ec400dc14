/** Turns at sweeping: one node of a cluster runs each kind of sweeper. */

import type { Store, TurnStore } from "../store/contract/index.ts";
import type { SweepTurns } from "./sweeper.ts";

export function createSweepTurns(store: TurnStore & Pick<Store, "storeNode">, now: () => number): SweepTurns {
  const turn = (what: string) => ({ work: `sweeper:${what}`, node: store.storeNode });
  return {
    take: (what, forMs) => store.turnTake({ ...turn(what), now: now(), until: now() + forMs }),
    giveUp: (what) => store.turnGive(turn(what)),
  };
}
