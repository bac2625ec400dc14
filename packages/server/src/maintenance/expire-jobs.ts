/** Sweeper: removes jobs that ended long ago. */

import type { JobStore } from "../store/contract/index.ts";
import { Sweeper, type SweeperSettings } from "./sweeper.ts";

export interface ExpireJobsParts extends SweeperSettings {
  store: JobStore;
  now(): number;
}

const KEPT_MS = 90 * 86_400_000;

export function expireJobs({ store, now, ...parts }: ExpireJobsParts): Sweeper {
  return new Sweeper({
    ...parts,
    what: "old jobs",
    removeSome: (limit) => store.jobExpireMany({ endedUntil: now() - KEPT_MS, limit }),
  });
}
