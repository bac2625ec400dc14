/**
 * Sweepers: remove sessions that have expired, and those of people to whom the rules in force give no role. Both are refused at once, removed
 * or not; removed, the latter do not come back with a rule that gives the role again.
 */

import type { Session, SessionPerson, SessionStore } from "../store/contract/index.ts";
import { Sweeper, type SweeperSettings } from "./sweeper.ts";

export interface SessionsWithoutRoleParts {
  store: Pick<SessionStore, "sessionList" | "sessionDelete">;
  /** By the rules in force. */
  hasRole(person: SessionPerson): boolean;
}

export interface ExpireSessionsParts extends SweeperSettings, SessionsWithoutRoleParts {
  store: SessionsWithoutRoleParts["store"] & Pick<SessionStore, "sessionExpireMany">;
  now: () => number;
}

export function expireSessions({ store, hasRole, now, ...parts }: ExpireSessionsParts): Sweeper[] {
  return [
    new Sweeper({
      ...parts,
      what: "expired sessions",
      removeSome: (limit) => store.sessionExpireMany({ expiredUntil: now(), limit }),
    }),
    new Sweeper({ ...parts, what: "sessions without a role", removeSome: (limit) => endSessionsWithoutRole({ store, hasRole }, limit) }),
  ];
}

/** Returns how many it ended, at most `limit`. */
export async function endSessionsWithoutRole(
  { store, hasRole }: SessionsWithoutRoleParts,
  limit = Number.POSITIVE_INFINITY,
): Promise<number> {
  const isWithoutRole = ({ person }: Session) => person !== undefined && !hasRole(person);
  const ended = (await store.sessionList()).filter(isWithoutRole).slice(0, limit);
  for (const { id } of ended) await store.sessionDelete({ id });
  return ended.length;
}
