/** Sweeper: removes realtime messages that were published longer ago than they are kept. */

import type { RealtimeStore } from "../store/contract/index.ts";
import { Sweeper, type SweeperSettings } from "./sweeper.ts";

export interface ExpireRealtimeMessagesParts extends SweeperSettings {
  store: RealtimeStore;
  /** Messages published at or before the returned time have expired. */
  publishedUntil: () => number;
}

export function expireRealtimeMessages({ store, publishedUntil, ...parts }: ExpireRealtimeMessagesParts): Sweeper {
  return new Sweeper({
    ...parts,
    what: "expired realtime messages",
    removeSome: (limit) => store.realtimeExpireMany({ publishedUntil: publishedUntil(), limit }),
  });
}
