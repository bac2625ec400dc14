/**
 * Refuses events before the store passes 1.2 times `--disk-budget`. The files are measured at intervals and, under load, as soon as what was
 * accepted since the last measurements could use up a quarter of the room that is left. Until a measurement has ended, the estimate
 * counts: what was accepted can never pass the limit unseen.
 *
 * What runs need to go on is not refused. A file that was larger than the budget from the start does not shrink, so there the data in it counts.
 */

import { Refusal } from "@inlet/protocol";
import type { Logger } from "pino";
import type { RetentionStore } from "../store/contract/index.ts";

const EVERY_MS = 5_000;
/** Below 1.2, because runs go on writing, and a log that is being read cannot be given back. */
const FULL_ABOVE = 1.05;
const MEASURE_AFTER_SHARE = 0.25;
/** A refused request asks for a measurement, at most this often. */
const AGAIN_AFTER_MS = 100;
/** Whoever was refused may try again within this time. */
const REFUSING_MS = 60_000;
/** A byte that is accepted is written to the log and to the file, each with what surrounds it. */
const BYTES_PER_BYTE = 2.5;
const BYTES_PER_REQUEST = 2_048;

export interface DiskGuardParts {
  store: Pick<RetentionStore, "retentionUsedBytes" | "retentionFileBytes" | "retentionReclaim">;
  budgetBytes: number;
  log: Logger;
}

export class DiskGuard {
  readonly #parts: DiskGuardParts;
  /** Before the first measurement, whatever the files were. */
  #roomBytes: number;
  /** Accepted since the last measurement began, and between that and the one before: some of it may have been written after it. */
  #accepted = 0;
  #acceptedBefore = 0;
  #measuring: Promise<void> | null = null;
  #measuredAt = Number.NEGATIVE_INFINITY;
  #refusedAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | null = null;
  #onUsed: ((usedBytes: number) => void) | null = null;

  constructor(parts: DiskGuardParts) {
    this.#parts = parts;
    this.#roomBytes = parts.budgetBytes;
  }

  start(): void {
    this.#timer ??= setInterval(() => void this.measure(), EVERY_MS).unref();
    void this.measure();
  }

  async stop(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer);
    await this.#measuring;
  }

  /** Calls the listener after each measurement with the size of the data. */
  whenUsed(listener: (usedBytes: number) => void): void {
    this.#onUsed = listener;
  }

  /** Somebody was refused a short time ago. */
  get isRefusing(): boolean {
    return performance.now() - this.#refusedAt < REFUSING_MS;
  }

  /** Null: there is room for a request of this size. */
  reserve(bytes: number): Refusal | null {
    const cost = bytes * BYTES_PER_BYTE + BYTES_PER_REQUEST;
    const expected = this.#accepted + this.#acceptedBefore + cost;
    const isFull = expected > this.#roomBytes;
    if (isFull ? performance.now() - this.#measuredAt > AGAIN_AFTER_MS : expected > this.#roomBytes * MEASURE_AFTER_SHARE)
      void this.measure();
    if (isFull) this.#refusedAt = performance.now();
    if (isFull) return new Refusal("disk_full", "The store has reached its disk budget (--disk-budget). Nothing was stored.");
    this.#accepted += cost;
    return null;
  }

  /** Never throws: a store that cannot be measured refuses by itself. */
  measure(): Promise<void> {
    this.#measuring ??= this.#measure()
      .catch((error) => this.#parts.log.debug({ err: error }, "the store's size could not be measured"))
      .finally(() => {
        this.#measuring = null;
        this.#measuredAt = performance.now();
      });
    return this.#measuring;
  }

  async #measure(): Promise<void> {
    const { store, budgetBytes } = this.#parts;
    const accepted = this.#accepted;
    const limitBytes = budgetBytes * FULL_ABOVE;
    let fileBytes = await store.retentionFileBytes();
    if (fileBytes > budgetBytes) {
      await store.retentionReclaim();
      fileBytes = await store.retentionFileBytes();
    }
    const usedBytes = await store.retentionUsedBytes();
    this.#roomBytes = limitBytes - (fileBytes > limitBytes ? usedBytes : Math.max(fileBytes, usedBytes));
    this.#accepted -= accepted;
    this.#acceptedBefore = accepted;
    this.#onUsed?.(usedBytes);
  }
}
