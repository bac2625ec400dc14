/**
 * Decides which transforms may delay which: a version is classified by its recent runs.
 *
 *   new ──quick run──▶ quick ──slow run──▶ slow ──quick run after the penalty──▶ quick
 *    └───slow run────────────────────────▶ slow
 *
 * `quick` versions share the fast threads. `new` and `slow` ones share one other thread, new ones first: an endless loop
 * never reaches the fast threads before it has been caught once, and a new version waits for at most one slow run.
 *
 * The penalty quadruples each time a webhook that was quick again becomes slow, up to an hour.
 */

export type Lane = "quick" | "new" | "slow";

export interface LaneOptions {
  /** CPU time above which a run counts as slow. */
  slowMs: number;
  penaltyMs: number;
  now: () => number;
}

/** Number of versions tracked. One that was dropped is new again, which costs it one run on the other thread. */
const REMEMBERED_MAX = 5_000;
const PENALTY_GROWTH = 4;
const PENALTY_MAX_MS = 3_600_000;
/** After this much time without a slow run, earlier ones are ignored. */
const FORGIVEN_AFTER_MS = 6 * 3_600_000;

interface Offences {
  count: number;
  lastAt: number;
}

export class VersionLanes {
  readonly #options: LaneOptions;
  /** Until when a version is slow; 0 for a quick one. In the order of the last change. */
  readonly #slowUntil = new Map<string, number>();
  /** By webhook: a new version does not reset the penalty. */
  readonly #offences = new Map<string, Offences>();

  constructor(options: LaneOptions) {
    this.#options = options;
  }

  laneOf(versionKey: string): Lane {
    const slowUntil = this.#slowUntil.get(versionKey);
    if (slowUntil === undefined) return "new";
    return slowUntil === 0 ? "quick" : "slow";
  }

  note(versionKey: string, webhook: string, cpuMs: number): void {
    const now = this.#options.now();
    const slowUntil = this.#slowUntil.get(versionKey);
    if (cpuMs > this.#options.slowMs) {
      const isServing = slowUntil !== undefined && slowUntil > now;
      remember(this.#slowUntil, versionKey, now + this.#penaltyMs(webhook, now, isServing));
    } else if (slowUntil === undefined || (slowUntil !== 0 && slowUntil <= now)) remember(this.#slowUntil, versionKey, 0);
  }

  /** Slow runs during a penalty extend it; a slow run after it makes the next one longer. */
  #penaltyMs(webhook: string, now: number, isServing: boolean): number {
    const known = this.#offences.get(webhook);
    const before = known && now - known.lastAt < FORGIVEN_AFTER_MS ? known.count : 0;
    const count = isServing ? Math.max(before, 1) : before + 1;
    remember(this.#offences, webhook, { count, lastAt: now });
    return Math.min(this.#options.penaltyMs * PENALTY_GROWTH ** (count - 1), PENALTY_MAX_MS);
  }
}

function remember<Value>(memory: Map<string, Value>, key: string, value: Value): void {
  memory.delete(key);
  memory.set(key, value);
  const [oldest = ""] = memory.keys();
  if (memory.size > REMEMBERED_MAX) memory.delete(oldest);
}
