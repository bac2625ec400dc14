/** Sweeper: removes expired state of rate limits, throttles, debounces, batches and singletons. */

import type { FunctionStartStore } from "../store/contract/index.ts";
import { Sweeper, type SweeperSettings } from "./sweeper.ts";

export interface ExpireMarksParts extends SweeperSettings {
  store: Pick<FunctionStartStore, "markExpireMany">;
  now(): number;
}

export function expireMarks({ store, now, ...parts }: ExpireMarksParts): Sweeper {
  return new Sweeper({ ...parts, what: "marks of functions", removeSome: (limit) => store.markExpireMany({ until: now(), limit }) });
}
