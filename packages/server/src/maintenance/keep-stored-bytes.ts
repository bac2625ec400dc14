/**
 * Sweeper: keeps environments within their quota of stored bytes. Beyond it, the oldest events, ended runs and webhook requests are removed row by
 * row until nine tenths are left, of each as large a share. State of unfinished runs is kept.
 */

import type { EnvironmentId } from "@inlet/protocol";
import { type EnvironmentStore, type Removal, reachableOnly, STORED_KINDS, type Store, type StoredKind } from "../store/contract/index.ts";
import { type StoredBytes, type StoredBytesMeter, totalOf } from "./stored-bytes.ts";
import { Sweeper, type SweeperSettings } from "./sweeper.ts";

const EVERY_MS = 5_000;
const LEFT_SHARE = 0.9;
const PER_TRANSACTION = 100;
/** Many unfinished runs are not passed one by one. */
const EXAMINED_MIN = 10;
/** Measuring reads every row of the environment. */
const ROUNDS_MAX = 5;

type QuotaStore = Pick<Store, "eventExpireMany" | "runExpireMany" | "webhookRequestExpireMany" | "retentionOldestRows"> &
  Pick<EnvironmentStore, "environmentList"> &
  Pick<Store, "storeDatabases" | "storeDatabaseOf">;

export interface KeepStoredBytesParts extends SweeperSettings {
  store: QuotaStore;
  meter: StoredBytesMeter;
  now(): number;
}

/** Two nodes that remove at the same time would remove more than needed. */
interface Removing {
  store: QuotaStore;
  environmentId: EnvironmentId;
  mayGoOn(): boolean;
}

export function keepStoredBytes({ store, meter, now, ...parts }: KeepStoredBytesParts): Sweeper {
  /** Where the oldest rows belong to unfinished runs, a round may remove too little: as long as something goes, there is another. */
  async function removeUntilWithin(limitBytes: number, removing: Removing, stored: StoredBytes): Promise<number> {
    let left = stored;
    for (let round = 0; round < ROUNDS_MAX && removing.mayGoOn(); round++) {
      const before = totalOf(left);
      await removeOldest(removing, left, limitBytes, now());
      left = await meter.measure(removing.environmentId);
      if (totalOf(left) <= limitBytes || totalOf(left) >= before) break;
    }
    return totalOf(left);
  }

  return new Sweeper({
    ...parts,
    everyMs: Math.min(parts.everyMs ?? EVERY_MS, EVERY_MS),
    what: "what exceeds the quotas of stored bytes",
    async removeSome(_limit, mayGoOn) {
      for (const { id, name, quotas } of reachableOnly(store, await store.environmentList())) {
        const limitBytes = quotas.storedBytes;
        const stored = limitBytes === null ? null : await meter.beyond(id, limitBytes);
        if (limitBytes === null || stored === null) continue;
        const leftBytes = await removeUntilWithin(limitBytes, { store, environmentId: id, mayGoOn }, stored);
        const facts = { environment: name, limitBytes, storedBytes: totalOf(stored), leftBytes };
        if (!mayGoOn()) return 0;
        if (leftBytes > limitBytes)
          parts.log.debug(
            facts,
            "an environment exceeds its quota of stored bytes: what is left belongs to unfinished runs or was just accepted",
          );
        else parts.log.info(facts, "an environment reached its quota of stored bytes: its oldest events, runs and requests were removed");
      }
      return 0;
    },
  });
}

async function removeOldest(removing: Removing, stored: StoredBytes, limitBytes: number, now: number): Promise<void> {
  const { store, environmentId } = removing;
  const share = 1 - (limitBytes * LEFT_SHARE) / totalOf(stored);
  // Runs before events: an event is needed as long as it has an unfinished run.
  for (const kind of STORED_KINDS.toReversed()) {
    const { rows, until } = await store.retentionOldestRows({ environmentId, kind, bytes: stored[kind] * share });
    if (until !== null && stored[kind] > 0) await removeRows(removing, kind, rows, kind === "requests" ? until : now);
  }
}

async function removeRows(removing: Removing, kind: StoredKind, rows: number, until: number): Promise<void> {
  if (rows === 0) return;
  if (kind === "requests") return removeRequests(removing, rows, until);
  if (kind === "runs") return removeRuns(removing, rows, until);
  const { store, environmentId, mayGoOn } = removing;
  let after: string | null = null;
  let removed = 0;
  // If all of them belong to unfinished runs, those that follow are examined, until some of them were removed: the next round measures again.
  for (let examined = 0; mayGoOn() && (examined < rows || removed === 0); ) {
    const limit = Math.min(examined < rows ? rows - examined : rows, PER_TRANSACTION);
    const removal: Removal = await store.eventExpireMany({ environmentId, until, after, limit });
    if (removal.next === null) return;
    after = removal.next;
    examined += limit;
    removed += removal.removed;
  }
}

/** Unfinished runs between them are not counted: they may be far smaller. */
async function removeRuns({ store, environmentId, mayGoOn }: Removing, rows: number, until: number): Promise<void> {
  let after: string | null = null;
  for (let left = rows; left > 0 && mayGoOn(); ) {
    const limit = Math.min(Math.max(left, EXAMINED_MIN), PER_TRANSACTION);
    const removal: Removal = await store.runExpireMany({ environmentId, until, after, limit });
    if (removal.next === null) return;
    after = removal.next;
    left -= removal.removed;
  }
}

async function removeRequests({ store, environmentId, mayGoOn }: Removing, rows: number, receivedUntil: number): Promise<void> {
  for (let left = rows; left > 0 && mayGoOn(); ) {
    const removed = await store.webhookRequestExpireMany({ environmentId, receivedUntil, limit: Math.min(left, PER_TRANSACTION) });
    if (removed === 0) return;
    left -= removed;
  }
}
