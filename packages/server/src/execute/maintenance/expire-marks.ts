/** Sweeper: removes what rate limits, throttles and other rules about starts remember, once it says no more than nothing would. */

import type { FunctionStartStore } from "../../store/contract/index.ts";
import { Sweeper, type SweeperParts } from "./sweeper.ts";

export interface ExpireMarksParts extends Pick<SweeperParts, "log" | "everyMs"> {
  store: FunctionStartStore;
  now(): number;
}

export function expireMarks({ store, now, ...parts }: ExpireMarksParts): Sweeper {
  return new Sweeper({
    ...parts,
    what: "expired marks of flow control",
    removeSome: (limit) => store.markExpireMany({ until: now(), limit }),
  });
}
