/**
 * Works on moves of environments between databases: on one at a time, a short piece of work after the other. Every node does; a move that
 * another node works on is left to it until its lease expires.
 */

import type { Logger } from "pino";
import type { EnvironmentMoveStore, Store } from "../store/contract/index.ts";

export interface MoveEnvironmentsParts {
  store: EnvironmentMoveStore & Pick<Store, "storeDatabases">;
  log: Logger;
  now(): number;
}

/** A move of a node that died is taken over after this time. */
const LEASE_MS = 10_000;
const POLL_INTERVAL_MS = 1_000;

export class MoveEnvironments {
  readonly #parts: MoveEnvironmentsParts;
  #timer: NodeJS.Timeout | null = null;
  #working: Promise<void> | null = null;
  #isStopping = false;

  constructor(parts: MoveEnvironmentsParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#timer ??= setInterval(() => this.#wake(), POLL_INTERVAL_MS).unref();
  }

  /** The piece of work in progress is finished. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    if (this.#timer) clearInterval(this.#timer);
    await this.#working;
  }

  #wake(): void {
    // Without a second database there is nothing to move, and nobody is asked.
    if (this.#parts.store.storeDatabases().length < 2) return;
    this.#working ??= this.#work().finally(() => {
      this.#working = null;
    });
  }

  /** Never throws. */
  async #work(): Promise<void> {
    const { store, log, now } = this.#parts;
    try {
      while (!this.#isStopping) {
        const progress = await store.environmentMoveAdvance({ now: now(), leaseMs: LEASE_MS });
        if (!progress) return;
        const { move, failure } = progress;
        if (failure !== null) log.warn({ job: move.jobId, reason: failure }, "a step of moving an environment failed; it is tried again");
      }
    } catch (error) {
      log.debug({ err: error }, "moves of environments could not be read; this is tried again");
    }
  }
}
