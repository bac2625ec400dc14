/** Sweeper: removes expired sessions. They are refused from their expiry on, removed or not. */

import type { SessionStore } from "../store/contract/index.ts";
import { Sweeper, type SweeperSettings } from "./sweeper.ts";

export interface ExpireSessionsParts extends SweeperSettings {
  store: SessionStore;
  now: () => number;
}

export function expireSessions({ store, now, ...parts }: ExpireSessionsParts): Sweeper {
  return new Sweeper({
    ...parts,
    what: "expired sessions",
    removeSome: (limit) => store.sessionExpireMany({ expiredUntil: now(), limit }),
  });
}
