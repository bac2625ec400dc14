/** What sweepers of events and runs have in common: they continue from a cursor, past what must stay. */

import type { Removal, RemovalParams } from "../store/contract/index.ts";
import { Sweeper, type SweeperParts, type SweeperSettings } from "./sweeper.ts";

export interface ExpireOldParts extends SweeperSettings {
  /** What happened at or before the returned instant is removed; null: nothing is. */
  until: () => number | null;
}

export interface ExpireOldKind extends ExpireOldParts, Required<Pick<SweeperParts, "what" | "perTransaction">> {
  removeSome(params: RemovalParams): Promise<Removal>;
}

export function expireOld({ until, removeSome, ...parts }: ExpireOldKind): Sweeper {
  let after: string | null = null;
  return new Sweeper({
    ...parts,
    async removeSome(limit) {
      const instant = until();
      if (instant === null) return 0;
      after = (await removeSome({ until: instant, after, limit })).next;
      return after === null ? 0 : limit;
    },
  });
}
