/** The common part of all sweepers: small transactions until nothing is left, repeated at intervals. */

import type { Logger } from "pino";

/** Of the nodes that share a store, one runs each kind of sweeper. Another takes over when that node is gone. */
export interface SweepLeadership {
  /** Until when this node has the leadership; null: another node has it. */
  take(what: string, forMs: number): Promise<number | null>;
  giveUp(what: string): Promise<void>;
  /** The clock of the time that `take` returns. */
  now(): number;
}

export interface SweeperParts {
  /** For the log: "removing <what> failed". */
  what: string;
  /**
   * Examines up to `limit` rows and removes expired ones. Returns how many it examined; fewer than `limit` means that nothing is left. `mayGoOn`:
   * it is not to stop, and this node has had the leadership since the sweep began.
   */
  removeSome(limit: number, mayGoOn: () => boolean): Promise<number>;
  log: Logger;
  /** Absent: this node always has the leadership. */
  leadership?: SweepLeadership;
  everyMs?: number;
  /** Smaller if a single removal is expensive. */
  perTransaction?: number;
}

/** Dependencies of a sweeper. */
export type SweeperSettings = Pick<SweeperParts, "log" | "leadership" | "everyMs">;

const EVERY_MS = 60_000;
/** A leadership lasts until the next sweep, even if that is late. */
const LEADERSHIP_SWEEPS = 1.5;
/** While a sweep takes long, the leadership is renewed so often before it is over. */
const RENEWALS = 3;
const OVER = Number.NEGATIVE_INFINITY;
/** The delay of the first sweep, so that a service that never runs for long sweeps too. */
const FIRST_AFTER_MS = 5_000;
/** Small enough that a transaction of a sweeper delays accepting events by a few milliseconds at most. */
const REMOVED_PER_TRANSACTION = 500;

export class Sweeper {
  readonly #parts: SweeperParts;
  #timer: NodeJS.Timeout | null = null;
  /** Sweeps at once, if no sweep is in progress. */
  #sweepNow: (() => void) | null = null;
  #sweeping: Promise<unknown> = Promise.resolve();
  #stopped = false;

  constructor(parts: SweeperParts) {
    this.#parts = parts;
  }

  start(): void {
    const { what, log, everyMs = EVERY_MS } = this.#parts;
    const next = (afterMs: number) => {
      this.#sweepNow = () => {
        if (this.#timer) clearTimeout(this.#timer);
        this.#sweepNow = null;
        this.#sweeping = this.#sweepAsLeader(everyMs).catch((error) => log.warn({ err: error }, `removing ${what} failed`));
        void this.#sweeping.then(() => !this.#stopped && next(everyMs));
      };
      this.#timer = setTimeout(this.#sweepNow, afterMs).unref();
    };
    if (!this.#timer) next(Math.min(everyMs, FIRST_AFTER_MS));
  }

  /** The next sweep is due now. Does nothing while one is in progress, or if the sweeper does not run. */
  wake(): void {
    if (!this.#stopped) this.#sweepNow?.();
  }

  async #sweepAsLeader(everyMs: number): Promise<void> {
    const { what, leadership, log } = this.#parts;
    if (!leadership) return void (await this.sweep());
    const forMs = everyMs * LEADERSHIP_SWEEPS;
    let until = (await leadership.take(what, forMs)) ?? OVER;
    let renewal: NodeJS.Timeout | undefined;
    const leads = () => leadership.now() < until;
    const take = async () => {
      const taken = await leadership.take(what, forMs);
      // Once it was over, another node may have had it in between.
      until = taken !== null && leads() ? taken : OVER;
    };
    const renewSoon = () => {
      if (leads()) renewal = setTimeout(renew, forMs / RENEWALS).unref();
    };
    const renew = () =>
      void take()
        .catch((error) => log.debug({ err: error }, `the leadership of removing ${what} could not be renewed`))
        .then(renewSoon);

    renewSoon();
    try {
      if (leads()) await this.sweep(leads);
    } finally {
      until = OVER;
      clearTimeout(renewal);
    }
  }

  /** Removes everything that has expired. Returns how much that was. */
  async sweep(leads = () => true): Promise<number> {
    const { removeSome, perTransaction = REMOVED_PER_TRANSACTION } = this.#parts;
    const mayGoOn = () => !this.#stopped && leads();
    let total = 0;
    for (let removed = perTransaction; removed === perTransaction && mayGoOn(); total += removed) {
      removed = await removeSome(perTransaction, mayGoOn);
    }
    return total;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#timer) clearTimeout(this.#timer);
    await this.#sweeping;
    // If that fails, the leadership expires.
    await this.#parts.leadership?.giveUp(this.#parts.what).catch(() => undefined);
  }
}
