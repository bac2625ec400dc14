/** Sweeper: removes jobs that ended long ago, those that came by themselves before the others. */

import { DAY_MS, SCHEDULED_JOB_DAYS } from "@inlet/protocol";
import type { JobStore } from "../store/contract/index.ts";
import { Sweeper, type SweeperSettings } from "./sweeper.ts";

export interface ExpireJobsParts extends SweeperSettings {
  store: JobStore;
  now(): number;
}

const KEPT_MS = 90 * DAY_MS;

export function expireJobs({ store, now, ...parts }: ExpireJobsParts): Sweeper {
  return new Sweeper({
    ...parts,
    what: "old jobs",
    removeSome: (limit) => store.jobExpireMany({ endedUntil: now() - KEPT_MS, scheduledUntil: now() - SCHEDULED_JOB_DAYS * DAY_MS, limit }),
  });
}
