/** Shared by the sweepers of events, runs and requests: works scope by scope from cursor to cursor, and skips rows that must be kept. */

import type { EventRemovalParams, Removal } from "../store/contract/index.ts";
import type { RetentionScope } from "./retention-scopes.ts";
import { Sweeper, type SweeperParts, type SweeperSettings } from "./sweeper.ts";

export interface ExpireOldParts extends SweeperSettings {
  /** The retention rules, read at the beginning of every sweep. */
  scopes(): Promise<RetentionScope[]>;
  now(): number;
}

export interface ExpireOldKind extends ExpireOldParts, Required<Pick<SweeperParts, "what" | "perTransaction">> {
  removeSome(params: EventRemovalParams): Promise<Removal>;
}

export function expireOld({ scopes, now, removeSome, ...parts }: ExpireOldKind): Sweeper {
  let sweep: (() => boolean) | null = null;
  let left: RetentionScope[] | null = null;
  let after: string | null = null;
  return new Sweeper({
    ...parts,
    async removeSome(limit, mayGoOn) {
      // A sweep that lost the leadership left some: the next one reads the rules anew.
      if (mayGoOn !== sweep) [left, after] = [null, null];
      sweep = mayGoOn;
      const waiting: RetentionScope[] = left ?? (await scopes());
      // A failed sweep starts over.
      left = null;
      const [scope, ...others] = waiting;
      if (!scope) return 0;
      const { keptMs, ...of } = scope;
      const cursor = after;
      after = null;
      after = (await removeSome({ ...of, until: now() - keptMs, after: cursor, limit })).next;
      left = after === null ? others : waiting;
      return limit;
    },
  });
}
