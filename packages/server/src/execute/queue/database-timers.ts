/** The timers of each database by themselves: one that is away, or that stays silent, delays none of the others. */

import { type ClaimedEntry, databasesOf, type Lease, type Store } from "../../store/contract/index.ts";
import type { Clock } from "../clock.ts";
import { Timers } from "./timers.ts";

export interface DatabaseTimersParts {
  store: Store;
  lease(): Lease;
  /** Called for every due batch; resolves when the batch is processed. */
  work(entries: readonly ClaimedEntry[]): Promise<void>;
  clock: Clock;
}

export class DatabaseTimers {
  readonly #parts: DatabaseTimersParts;
  readonly #timers = new Map<number, Timers>();
  #isStopped = false;

  constructor(parts: DatabaseTimersParts) {
    this.#parts = parts;
  }

  start(): void {
    for (const { no } of databasesOf(this.#parts.store)) this.#of(no)?.start();
  }

  /** An entry of this database is due at this time. A database that was added since the start gets its timers with its first entry. */
  wakeBy(dueAt: number, databaseNo = 0): void {
    this.#of(databaseNo)?.wakeBy(dueAt);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all([...this.#timers.values()].map((timers) => timers.stop()));
  }

  #of(no: number): Timers | null {
    const known = this.#timers.get(no);
    if (known || this.#isStopped) return known ?? null;
    if (!this.#storeOf(no)) return null;
    // Looked up for each call: while there is one database, its store is the router, which asks every database once others are added.
    const store = () => this.#storeOf(no) ?? this.#parts.store;
    const made = new Timers({
      ...this.#parts,
      store: { queueClaimMany: (params) => store().queueClaimMany(params), queueNextDue: () => store().queueNextDue() },
    });
    this.#timers.set(no, made);
    return made;
  }

  #storeOf(no: number): Store | undefined {
    return databasesOf(this.#parts.store).find((one) => one.no === no)?.store;
  }
}
