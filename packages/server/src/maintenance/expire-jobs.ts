/** Sweeper: removes jobs that ended long ago, and items of jobs that were given up while they were made. */

import { firstIdAt } from "@inlet/protocol";
import type { JobStore } from "../store/contract/index.ts";
import { Sweeper, type SweeperSettings } from "./sweeper.ts";

export interface ExpireJobsParts extends SweeperSettings {
  store: JobStore;
  now(): number;
}

const KEPT_MS = 90 * 86_400_000;
/** Nobody makes one job for so long. */
const MAKING_MS = 86_400_000;

export function expireJobs({ store, now, ...parts }: ExpireJobsParts): Sweeper {
  return new Sweeper({
    ...parts,
    what: "old jobs",
    removeSome: (limit) => store.jobExpireMany({ endedUntil: now() - KEPT_MS, abandonedUntil: firstIdAt(now() - MAKING_MS), limit }),
  });
}
