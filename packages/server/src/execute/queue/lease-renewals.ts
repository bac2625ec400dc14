/**
 * Renews the leases of the entries that this node holds, on a store that nodes share. A node that could not renew one in time, because
 * it was paused or disconnected, drops the entry: another node may have it.
 */

import type { LeaseId } from "@inlet/protocol";
import type { ClaimedEntry, QueueStore, Store } from "../../store/contract/index.ts";
import type { Clock } from "../clock.ts";

/** How often a lease is renewed while it lasts. */
const RENEWALS = 4;

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
  #cancelNext: (() => void) | null = null;
  #stopped = false;

  constructor(parts: LeaseRenewalsParts) {
    this.#parts = parts;
    this.#intervalMs = parts.leaseMs / RENEWALS;
  }

  start(): void {
    if (this.#stopped) return;
    this.#cancelNext = this.#parts.clock.after(this.#intervalMs, () => void this.#renew().finally(() => this.start()));
  }

  stop(): void {
    this.#stopped = true;
    this.#cancelNext?.();
  }

  /** Those of one database at a time: the others are renewed, whether or not it can be reached. */
  async #renew(): Promise<void> {
    const { store, held } = this.#parts;
    const groups = Map.groupBy(held(), ({ environmentId }) => store.storeDatabaseOf(environmentId));
    await Promise.all([...groups.values()].map((entries) => this.#renewSome(entries)));
  }

  /** Drops leases that could not be renewed, or might expire before the next renewal. */
  async #renewSome(held: readonly ClaimedEntry[]): Promise<void> {
    const { store, clock, leaseMs } = this.#parts;
    const until = clock.now() + leaseMs;
    const renewed = await store.queueRenew({ entries: held, until }).catch(() => null);
    for (const entry of held) if (renewed?.has(entry.leaseId)) entry.leasedUntil = until;
    const isLost = ({ leaseId, leasedUntil }: ClaimedEntry) =>
      (renewed !== null && !renewed.has(leaseId)) || leasedUntil <= clock.now() + this.#intervalMs;
    this.#parts.drop(new Set(held.filter(isLost).map(({ leaseId }) => leaseId)));
  }
}
