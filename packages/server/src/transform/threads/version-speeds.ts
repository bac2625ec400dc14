/**
 * Decides which transforms may delay which: a version is classified by its last run.
 *
 *   new ──quick run──▶ quick ◀──quick run, slow run──▶ slow
 *    └───slow run─────────────────────────────────────▶ slow
 *
 * `quick` versions share the fast threads. `new` and `slow` ones share one other thread, in turn: an endless loop
 * never reaches the fast threads before it has been caught once, and between two new versions at most one slow run is made.
 */

export type Speed = "quick" | "new" | "slow";

/** Number of versions tracked. One that was dropped is new again, which costs it one run on the other thread. */
const REMEMBERED_MAX = 5_000;

export class VersionSpeeds {
  readonly #slowMs: number;
  /** In the order of the last change. */
  readonly #speeds = new Map<string, Speed>();

  /** A run that takes more CPU time is slow. */
  constructor(slowMs: number) {
    this.#slowMs = slowMs;
  }

  speedOf(versionKey: string): Speed {
    return this.#speeds.get(versionKey) ?? "new";
  }

  record(versionKey: string, cpuMs: number): void {
    const speed = cpuMs > this.#slowMs ? "slow" : "quick";
    if (this.#speeds.get(versionKey) === speed) return;
    this.#speeds.delete(versionKey);
    this.#speeds.set(versionKey, speed);
    const [oldest = ""] = this.#speeds.keys();
    if (this.#speeds.size > REMEMBERED_MAX) this.#speeds.delete(oldest);
  }
}
