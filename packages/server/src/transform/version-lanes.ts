/**
 * Decides which transforms may delay which: a version is judged by how its last runs went.
 *
 *   new ──quick run──▶ quick ──slow run──▶ slow ──penaltyMs without a slow run──▶ quick
 *    └───slow run────────────────────────▶ slow
 *
 * `quick` versions share the fast threads. `new` and `slow` ones share one other thread, new ones first: an endless loop
 * never reaches the fast threads before it has been caught once, and a new version waits for one slow run at most.
 */

export type Lane = "quick" | "new" | "slow";

export interface LaneOptions {
  /** CPU time above which a run counts as slow. */
  slowMs: number;
  penaltyMs: number;
  now: () => number;
}

/** Versions remembered. A forgotten one is new again, which costs it one run on the other thread. */
const VERSIONS_MAX = 5_000;

export class VersionLanes {
  readonly #options: LaneOptions;
  /** Until when a version is slow; 0 for a quick one. In the order of the last change. */
  readonly #slowUntil = new Map<string, number>();

  constructor(options: LaneOptions) {
    this.#options = options;
  }

  laneOf(versionKey: string): Lane {
    const slowUntil = this.#slowUntil.get(versionKey);
    if (slowUntil === undefined) return "new";
    return slowUntil > this.#options.now() ? "slow" : "quick";
  }

  note(versionKey: string, cpuMs: number): void {
    const { slowMs, penaltyMs, now } = this.#options;
    if (cpuMs > slowMs) {
      this.#slowUntil.delete(versionKey);
      this.#slowUntil.set(versionKey, now() + penaltyMs);
    } else if (!this.#slowUntil.has(versionKey)) this.#slowUntil.set(versionKey, 0);
    const oldest = this.#slowUntil.keys().next().value;
    if (this.#slowUntil.size > VERSIONS_MAX && oldest !== undefined) this.#slowUntil.delete(oldest);
  }
}
