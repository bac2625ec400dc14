/**
 * Sweeper: keeps the store within `--disk-budget`. Beyond nine tenths of it, the oldest events, ended runs and webhook requests are removed,
 * one slice of time after the other, until the store is at four fifths; while requests are refused for want of room, as soon as it is beyond
 * that. State of unfinished runs is kept: if nothing else is left, the log says so. The guard (disk-guard.ts) wakes it as soon as it measures that much.
 *
 * SQLite reuses the space of removed rows, and PostgreSQL does after vacuuming. While a backup reads, SQLite's log only grows
 * by what is removed: then it stops after one slice. A PostgreSQL database shrinks only when whole partitions are
 * dropped, so there only partitions are removed. With an archive, only those that it has taken: if it takes none, the store stays as it is, and
 * the guard refuses events when there is no room left.
 */

import { setTimeout as delay } from "node:timers/promises";
import type { PartitionArchive, Removal, RemovalParams, Store } from "../store/contract/index.ts";
import { Sweeper, type SweeperSettings } from "./sweeper.ts";

const EVERY_MS = 5_000;
/** Beyond this share of the budget, the oldest go. */
const BEGIN_ABOVE = 0.9;
const END_BELOW = 0.8;
/** Of the time that is left: what is oldest may be kept, and stand far before all else. */
const SLICES = 50;
const SLICE_MS_MIN = 100;
/** On PostgreSQL, where only whole partitions go. */
const SHARED_SLICE_MS_MIN = 3_600_000;
const PER_TRANSACTION = 100;
/** Most reads take less than this. */
const RECLAIM_TRIES = 10;
const RECLAIM_EVERY_MS = 100;

type BudgetStore = Pick<
  Store,
  | "retentionUsedBytes"
  | "retentionReclaim"
  | "retentionOldestAt"
  | "retentionMaintain"
  | "eventExpireMany"
  | "runExpireMany"
  | "webhookRequestExpireMany"
  | "storeIsShared"
>;

export interface ArchivingParts {
  /** Null: nothing is archived. `failure`: why it takes nothing. */
  archive: (PartitionArchive & { failure: { reason: string } | null }) | null;
}

export interface KeepDiskBudgetParts extends SweeperSettings, Partial<ArchivingParts> {
  store: BudgetStore;
  budgetBytes: number;
  /** Requests are refused for want of room, which one larger than the last tenth of the budget would be for ever. */
  isRefusing?(): boolean;
  now(): number;
}

/** Whether something has to go. */
export function isOverBudget(usedBytes: number, budgetBytes: number, isRefusing: boolean): boolean {
  return usedBytes > budgetBytes * (isRefusing ? END_BELOW : BEGIN_ABOVE);
}

export function keepDiskBudget(given: KeepDiskBudgetParts): Sweeper {
  const { store, budgetBytes, now, archive = null, isRefusing = () => false, ...parts } = given;
  return new Sweeper({
    everyMs: EVERY_MS,
    ...parts,
    what: "what exceeds the disk budget",
    async removeSome(_limit, mayGoOn) {
      if (!isOverBudget(await store.retentionUsedBytes(), budgetBytes, isRefusing())) return 0;
      const mayRemove = await reclaim(store);
      const usedBytes = await store.retentionUsedBytes();
      if (!isOverBudget(usedBytes, budgetBytes, isRefusing())) return 0;
      const { removedUntil, leftBytes, isHeld } = mayRemove
        ? await shrink(store, budgetBytes * END_BELOW, { now, archive, mayGoOn })
        : { removedUntil: null, leftBytes: usedBytes, isHeld: true };
      if (!mayGoOn()) return 0;
      const facts = { budgetBytes, usedBytes, leftBytes, removedUntil: removedUntil && new Date(removedUntil).toISOString() };
      if (leftBytes > budgetBytes * BEGIN_ABOVE && archive?.failure)
        parts.log.error(
          { ...facts, reason: archive.failure.reason },
          "the store exceeds --disk-budget, and nothing can be removed, because the archive cannot be written",
        );
      else if (isHeld && leftBytes > budgetBytes * END_BELOW)
        parts.log.warn(facts, "the store exceeds --disk-budget: the oldest are removed once a backup or another long read has ended");
      else if (leftBytes > budgetBytes * BEGIN_ABOVE)
        parts.log.error(
          facts,
          "the store exceeds --disk-budget, and nothing more can be removed: what is left is recent or belongs to unfinished runs",
        );
      else parts.log.warn(facts, "the store reached --disk-budget: the oldest events, runs and webhook requests were removed");
      return 0;
    },
  });
}

interface Shrinking extends ArchivingParts {
  now(): number;
  mayGoOn(): boolean;
}

async function shrink(store: BudgetStore, targetBytes: number, { now, archive, mayGoOn }: Shrinking) {
  const oldest = await store.retentionOldestAt();
  let leftBytes = await store.retentionUsedBytes();
  if (oldest === null) return { removedUntil: null, leftBytes, isHeld: false };
  const end = now();
  const sliceMin = store.storeIsShared ? SHARED_SLICE_MS_MIN : SLICE_MS_MIN;
  let until = oldest;
  let isHeld = false;
  while (leftBytes > targetBytes && until < end && !isHeld && mayGoOn()) {
    // Whole milliseconds: PostgreSQL takes no others.
    until = Math.min(end, until + Math.max(sliceMin, Math.ceil((end - until) / SLICES)));
    const removed = await removeUntil(store, until, end, archive);
    if (archive?.failure) break;
    if (removed === 0) continue;
    isHeld = !(await reclaim(store));
    leftBytes = await store.retentionUsedBytes();
  }
  return { removedUntil: until, leftBytes, isHeld };
}

/** False: the log is read for long. */
async function reclaim(store: BudgetStore): Promise<boolean> {
  for (let tries = 0; tries < RECLAIM_TRIES; tries++) {
    if (await store.retentionReclaim()) return true;
    await delay(RECLAIM_EVERY_MS);
  }
  return false;
}

/** Returns how many rows were removed; null: that is not known of partitions. */
async function removeUntil(store: BudgetStore, until: number, now: number, archive: ArchivingParts["archive"]): Promise<number | null> {
  const keptMs = now - until;
  await store.retentionMaintain({ now, keptMs: { events: keptMs, runs: keptMs, requests: keptMs }, ...(archive && { archive }) });
  if (store.storeIsShared) return null;
  // Runs first: an event is needed as long as it has an unfinished run.
  let removed = (await removeAll(store.runExpireMany, until)) + (await removeAll(store.eventExpireMany, until));
  for (let some = PER_TRANSACTION; some === PER_TRANSACTION; removed += some)
    some = await store.webhookRequestExpireMany({ receivedUntil: until, limit: PER_TRANSACTION });
  return removed;
}

async function removeAll(remove: (params: RemovalParams) => Promise<Removal>, until: number): Promise<number> {
  let total = 0;
  let after: string | null = null;
  do {
    const { removed, next }: Removal = await remove({ until, after, limit: PER_TRANSACTION });
    total += removed;
    after = next;
  } while (after !== null);
  return total;
}
