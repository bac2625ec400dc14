/**
 * How much environments store. A measurement reads all rows of the environment, so it is repeated only when its last result is too old, or
 * when what was accepted since could have filled the quota, and never at once if it took long.
 */

import { DAY_MS, type EnvironmentId } from "@inlet/protocol";
import type { RetentionStore, StoredKind, UsageStore } from "../store/contract/index.ts";

/** A result is used for this long, or for this many times the duration of the query if that is longer. */
const FRESH_MS = 5_000;
const REST_PER_QUERY = 50;
/** A byte of a body is stored as an event, as a webhook request, and in what its runs keep of it. */
const STORED_PER_BYTE = 3;

export type StoredBytes = Record<StoredKind, number>;

export interface StoredBytesParts {
  store: Pick<RetentionStore, "retentionStoredBytes"> & Pick<UsageStore, "usageList">;
  now(): number;
  /** Milliseconds that only go forward. Absent: those of the process. */
  elapsed?(): number;
}

interface Measured {
  bytes: StoredBytes;
  /** By `elapsed`. */
  freshUntil: number;
  /** Accepted on the day of the measurement, and the day. */
  accepted: number;
  day: number;
}

export class StoredBytesMeter {
  readonly #parts: StoredBytesParts;
  readonly #elapsed: () => number;
  readonly #measured = new Map<EnvironmentId, Measured>();

  constructor(parts: StoredBytesParts) {
    this.#parts = parts;
    this.#elapsed = parts.elapsed ?? (() => performance.now());
  }

  /** Up to date enough for people. */
  async shown(environmentId: EnvironmentId): Promise<number> {
    const known = this.#measured.get(environmentId);
    return totalOf(known && this.#elapsed() < known.freshUntil ? known.bytes : await this.measure(environmentId));
  }

  /** What is stored, if that may be more than the limit; null if it cannot be. */
  async beyond(environmentId: EnvironmentId, limit: number): Promise<StoredBytes | null> {
    const known = this.#measured.get(environmentId);
    if (known && this.#elapsed() < known.freshUntil) {
      const { accepted, day } = await this.#accepted(environmentId);
      const since = day === known.day ? accepted - known.accepted : accepted;
      if (totalOf(known.bytes) + since * STORED_PER_BYTE <= limit) return null;
    }
    const bytes = await this.measure(environmentId);
    return totalOf(bytes) > limit ? bytes : null;
  }

  async measure(environmentId: EnvironmentId): Promise<StoredBytes> {
    const before = await this.#accepted(environmentId);
    const begun = this.#elapsed();
    const bytes = await this.#parts.store.retentionStoredBytes({ environmentId });
    const took = this.#elapsed() - begun;
    this.#measured.set(environmentId, { bytes, freshUntil: begun + took + Math.max(FRESH_MS, took * REST_PER_QUERY), ...before });
    return bytes;
  }

  async #accepted(environmentId: EnvironmentId): Promise<{ accepted: number; day: number }> {
    const day = this.#parts.now() - (this.#parts.now() % DAY_MS);
    const params = { environmentIds: [environmentId], kind: "environment", from: day, to: day + DAY_MS, intervalMs: DAY_MS } as const;
    const [today] = await this.#parts.store.usageList(params);
    return { accepted: today?.figures.bytes ?? 0, day };
  }
}

export function totalOf({ events, runs, requests }: StoredBytes): number {
  return events + runs + requests;
}
