/** Turns at sweeping, kept in the store as limits are. */

import type { QueueStore, Store } from "../../store/contract/index.ts";
import type { SweepTurns } from "./sweeper.ts";

type TurnStore = Pick<QueueStore, "queueLimitHold" | "queueLimitRelease"> & Pick<Store, "storeNode">;

export function createSweepTurns(store: TurnStore, now: () => number): SweepTurns {
  const held = (what: string) => ({ ids: [`sweeper:${what}`], node: store.storeNode });
  return {
    take: (what, forMs) => store.queueLimitHold({ ...held(what), now: now(), until: now() + forMs }),
    giveUp: (what) => store.queueLimitRelease(held(what)),
  };
}
