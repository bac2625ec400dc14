/** What all sweepers have in common: small transactions until nothing is left, again after a while. */

import type { Logger } from "pino";

/** Of the nodes that share a store one does each kind of sweeping, for as long as it keeps coming by; another when it is gone. */
export interface SweepTurns {
  /** Whether it is this node's turn, which it then keeps for so long. */
  take(what: string, forMs: number): Promise<boolean>;
  giveUp(what: string): Promise<void>;
}

export interface SweeperParts {
  /** For the log: "removing <what> failed". */
  what: string;
  /** Looks at up to `limit` things and removes those that have expired; says how many it dealt with. Fewer than `limit`: nothing is left. */
  removeSome(limit: number): Promise<number>;
  log: Logger;
  /** Absent: it is always this node's turn. */
  turns?: SweepTurns;
  everyMs?: number;
  /** Fewer, where one of them is much work. */
  perTransaction?: number;
}

/** What a sweeper is given from outside. */
export type SweeperSettings = Pick<SweeperParts, "log" | "turns" | "everyMs">;

const EVERY_MS = 60_000;
/** A turn lasts until the next sweep, even if that is late. */
const TURN_SWEEPS = 1.5;
/** A service that never runs for long sweeps too, once it has settled. */
const FIRST_AFTER_MS = 5_000;
/** Small enough that one transaction of a sweeper delays an accept by no more than a few milliseconds. */
const REMOVED_PER_TRANSACTION = 500;

export class Sweeper {
  readonly #parts: SweeperParts;
  #timer: NodeJS.Timeout | null = null;
  #sweeping: Promise<unknown> = Promise.resolve();
  #stopped = false;

  constructor(parts: SweeperParts) {
    this.#parts = parts;
  }

  start(): void {
    const { what, log, everyMs = EVERY_MS } = this.#parts;
    const next = (afterMs: number) => {
      this.#timer = setTimeout(() => {
        this.#sweeping = this.#sweepInTurn(everyMs).catch((error) => log.warn({ err: error }, `removing ${what} failed`));
        void this.#sweeping.then(() => !this.#stopped && next(everyMs));
      }, afterMs).unref();
    };
    if (!this.#timer) next(Math.min(everyMs, FIRST_AFTER_MS));
  }

  async #sweepInTurn(everyMs: number): Promise<void> {
    const { what, turns } = this.#parts;
    if (!turns || (await turns.take(what, everyMs * TURN_SWEEPS))) await this.sweep();
  }

  /** Removes everything that has expired; says how much that was. */
  async sweep(): Promise<number> {
    const { removeSome, perTransaction = REMOVED_PER_TRANSACTION } = this.#parts;
    let total = 0;
    for (let removed = perTransaction; removed === perTransaction && !this.#stopped; total += removed) {
      removed = await removeSome(perTransaction);
    }
    return total;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#timer) clearTimeout(this.#timer);
    await this.#sweeping;
    // If that fails, the turn expires.
    await this.#parts.turns?.giveUp(this.#parts.what).catch(() => undefined);
  }
}
