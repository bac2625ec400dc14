/**
 * Advisory locks, all held until the transaction ends. Every transaction takes locks in the same order, which avoids deadlocks:
 *
 *   removal of events → marks and limits → rows of runs, and leased entries → new interned ids → names → dedup keys → waits → approvals → rows of the queue → rows of traffic,
 *
 * and within each kind by number or key. Where this order cannot be kept, PostgreSQL aborts one of the two transactions, and its
 * units are written again (group-commit.ts).
 */

import { hash } from "node:crypto";
import type { EnvironmentId, FunctionNo } from "@inlet/protocol";
import type { PoolClient } from "pg";
import type { MarkKey } from "../contract/index.ts";
import type { PendingWrites } from "./pending-writes.ts";

/** An event holds the lock of its name shared; a step that starts to wait for that name holds it exclusively, so neither misses the other. */
export type LockMode = "shared" | "alone";

/** Two keys with the same lock number only wait for each other unnecessarily. */
function lockNumber(...parts: readonly (string | number)[]): bigint {
  return hash("sha256", JSON.stringify(parts), "buffer").readBigInt64BE();
}

export function nameLock(environmentId: EnvironmentId, eventName: string): bigint {
  return lockNumber("name", environmentId, eventName);
}

/** Held by the one node that continues with what is left of an event name. Never waited for. */
export function resumptionLock(environmentId: EnvironmentId, eventName: string): bigint {
  return lockNumber("resumption", environmentId, eventName);
}

/** `key` as it is stored. */
export function markLock(environmentId: EnvironmentId, functionNo: FunctionNo, { kind, key }: MarkKey): bigint {
  return lockNumber("mark", environmentId, functionNo, kind, key);
}

/**
 * Held shared by whoever starts a run for an event that was stored earlier, and exclusively by whoever removes events: an event that is
 * there when a run is started for it is not removed by a transaction that does not know of the run yet.
 */
export function eventRemovalLock(): bigint {
  return lockNumber("event removal");
}

export function limitLock(limitId: string): bigint {
  return lockNumber("limit", limitId);
}

const TAKE = "SELECT take_locks($1, $2)";

export class LockSet {
  readonly #modes = new Map<bigint, LockMode>();

  add(lock: bigint, mode: LockMode): void {
    if (mode === "alone" || !this.#modes.has(lock)) this.#modes.set(lock, mode);
  }

  /** One after the other, in the order of their numbers. */
  async take(client: PoolClient): Promise<void> {
    if (this.#modes.size > 0) await client.query(TAKE, this.#columns());
  }

  /** The same for a group: all statements that it sends afterwards run with the locks held. */
  send(writes: Pick<PendingWrites, "send">): void {
    if (this.#modes.size > 0) writes.send(TAKE, ...this.#columns());
  }

  #columns(): unknown[] {
    const locks = [...this.#modes].sort(([one], [other]) => (one < other ? -1 : 1));
    return [locks.map(([lock]) => lock.toString()), locks.map(([, mode]) => mode === "shared")];
  }
}
