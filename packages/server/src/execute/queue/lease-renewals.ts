/**
 * Renews the leases of the entries that this node holds, on a store that nodes share. A node that could not renew one in time, because
 * it was paused or disconnected, drops the entry: another node may have it.
 */

import type { LeaseId } from "@inlet/protocol";
import type { ClaimedEntry, QueueStore, Store } from "../../store/contract/index.ts";
import type { Clock } from "../clock.ts";

/** How often a lease is renewed while it lasts. */
const RENEWALS = 4;
/** A lease that lasts for fewer intervals than this may expire before it is looked at again: timers fire late. */
const INTERVALS_LEFT_MIN = 1.5;

export interface LeaseRenewalsParts {
  store: Pick<QueueStore, "queueRenew"> & Pick<Store, "storeDatabaseOf">;
  /** How long a lease lasts unless it is renewed. */
  leaseMs: number;
  held(): readonly ClaimedEntry[];
  /** The leases are lost. */
  drop(leaseIds: ReadonlySet<LeaseId>): void;
  clock: Clock;
}

export class LeaseRenewals {
  readonly #parts: LeaseRenewalsParts;
  readonly #intervalMs: number;
  /** Databases that have not answered yet. */
  readonly #renewing = new Set<number>();
  #cancelNext: (() => void) | null = null;
  #stopped = false;

  constructor(parts: LeaseRenewalsParts) {
    this.#parts = parts;
    this.#intervalMs = parts.leaseMs / RENEWALS;
  }

  start(): void {
    if (this.#stopped) return;
    this.#cancelNext = this.#parts.clock.after(this.#intervalMs, () => {
      this.#renew();
      this.start();
    });
  }

  stop(): void {
    this.#stopped = true;
    this.#cancelNext?.();
  }

  /** Those of one database at a time: the others are renewed, whether or not it can be reached. */
  #renew(): void {
    const { store, held } = this.#parts;
    const groups = Map.groupBy(held(), ({ environmentId }) => store.storeDatabaseOf(environmentId));
    for (const [database, entries] of groups) {
      if (this.#renewing.has(database)) this.#drop(entries, () => false);
      else void this.#renewSome(database, entries);
    }
  }

  async #renewSome(database: number, held: readonly ClaimedEntry[]): Promise<void> {
    const { store, clock, leaseMs } = this.#parts;
    const until = clock.now() + leaseMs;
    this.#renewing.add(database);
    const renewed = await store.queueRenew({ entries: held, until }).catch(() => null);
    this.#renewing.delete(database);
    for (const entry of held) if (renewed?.has(entry.leaseId)) entry.leasedUntil = until;
    this.#drop(held, ({ leaseId }) => renewed !== null && !renewed.has(leaseId));
  }

  /** Drops the leases that another node has, and those that might expire before they are renewed: however long the store takes to answer. */
  #drop(held: readonly ClaimedEntry[], isTaken: (entry: ClaimedEntry) => boolean): void {
    const { clock, drop } = this.#parts;
    const isOver = ({ leasedUntil }: ClaimedEntry) => leasedUntil <= clock.now() + this.#intervalMs * INTERVALS_LEFT_MIN;
    drop(new Set(held.filter((entry) => isTaken(entry) || isOver(entry)).map(({ leaseId }) => leaseId)));
  }
}
