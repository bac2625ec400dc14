/**
 * Removes the sessions of people to whom the rules in force give no role. They are refused at once; removed, they do not come back with a
 * rule that gives the role again. Once, at the start: a node that runs with older rules must not end what newer ones allow.
 */

import type { Logger } from "pino";
import type { SessionStore } from "../../store/contract/index.ts";
import { grantsOf } from "./oidc-claims.ts";

export async function endSessionsWithoutRole(
  store: Pick<SessionStore, "sessionList" | "sessionDelete">,
  settings: Parameters<typeof grantsOf>[1],
  log: Logger,
): Promise<void> {
  const ended = (await store.sessionList()).filter(({ person }) => person !== undefined && grantsOf(person, settings).length === 0);
  for (const { id } of ended) await store.sessionDelete({ id });
  if (ended.length > 0) log.info({ sessions: ended.length }, "sessions of people without a role were removed");
}
