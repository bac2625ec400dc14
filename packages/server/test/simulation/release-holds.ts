/** What an operator does, some time after a run that holds up its key has failed. */

import type { EnvironmentId } from "@inlet/protocol";
import type { OrderHold, Store } from "../../src/store/contract/index.ts";
import type { Journal } from "./journal.ts";
import { now } from "./virtual-time.ts";

const HELD_MS = 2_000;
const HOLDS_MAX = 100;

export async function releaseHolds(store: Store, environmentId: EnvironmentId, journal: Journal): Promise<void> {
  for (const { runId, heldAt, position } of await rememberHolders(store, environmentId, journal)) {
    if (now() < heldAt + HELD_MS) continue;
    const run = runId === null ? null : await store.runFind({ id: runId });
    const at = now();
    if (!run) {
      const released = await store.orderHoldRelease({ environmentId, position });
      if (released) journal.releases.set(journal.holders.get(position) ?? "", at);
      continue;
    }
    if (await store.orderRelease({ environmentId, runNo: run.no })) journal.releases.set(run.id, at);
    else if (!journal.reruns.some(({ sourceId }) => sourceId === run.id)) journal.fault(`run ${run.id} was on hold and is not`);
  }
}

/** Whose keys are on hold. Once retention has removed such a run, a hold no longer says whose it is. */
export async function rememberHolders(store: Store, environmentId: EnvironmentId, journal: Journal): Promise<OrderHold[]> {
  const { holds } = await store.orderHoldList({ environmentId, limit: HOLDS_MAX });
  for (const { runId, position } of holds) if (runId !== null) journal.holders.set(position, runId);
  return holds;
}
