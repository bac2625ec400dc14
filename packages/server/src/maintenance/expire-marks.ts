/** Sweeper: removes expired state of rate limits, throttles, debounces, batches and singletons. */

import type { FunctionStartStore, MarkExpireParams } from "../store/contract/index.ts";
import { Sweeper, type SweeperSettings } from "./sweeper.ts";

export interface ExpireMarksParts extends SweeperSettings {
  store: Pick<FunctionStartStore, "markExpireMany">;
  now(): number;
  neededUntil: MarkExpireParams["neededUntil"];
}

export function expireMarks({ store, now, neededUntil, ...parts }: ExpireMarksParts): Sweeper {
  const removeSome = (limit: number) => store.markExpireMany({ until: now(), limit, neededUntil });
  return new Sweeper({ ...parts, what: "marks of functions", removeSome });
}
