/** Calls about several environments: each database gets the part that concerns those it holds. */

import { EnvironmentMoved, type Store } from "../contract/index.ts";
import type { Placement } from "./placement.ts";
import type { Held } from "./rules.ts";

/** What concerns environments of one database is written whole or not at all; see storeDatabaseOf. */
export async function split<Part extends Held, Result>(
  placement: Placement,
  parts: readonly Part[],
  call: (store: Store, parts: readonly Part[]) => Promise<Result>,
): Promise<Result[]> {
  if (placement.isAlone) return [await call(placement.directory, parts)];
  const groups = [...Map.groupBy(parts, ({ environmentId }) => placement.databaseOf(environmentId)).values()];
  const written = await Promise.allSettled(groups.map((group) => together(placement, group, call)));
  return written.map((outcome) => {
    if (outcome.status === "rejected") throw outcome.reason;
    return outcome.value;
  });
}

/** Parts that were in one database. If only some of their environments have moved since, the call fails: the caller repeats it. */
function together<Part extends Held, Result>(
  placement: Placement,
  parts: readonly Part[],
  call: (store: Store, parts: readonly Part[]) => Promise<Result>,
): Promise<Result> {
  const [first] = parts as readonly [Part];
  return placement.inEnvironment(first.environmentId, async (store) => {
    const places = new Set(parts.map(({ environmentId }) => placement.databaseOf(environmentId)));
    if (places.size > 1) throw new EnvironmentMoved("some of these environments have moved to another database");
    return call(store, parts);
  });
}
