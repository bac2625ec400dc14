/**
 * Finds the entry that its node dies of, without blaming those that were held beside it.
 *
 * When a node dies, everything it held is claimed again, and nobody knows what it was working on. An entry that was claimed several
 * times without an outcome is a suspect. Suspects are tried one after the other, and only while the node works on them itself:
 * when a call begins, and when its answer is dealt with, not while the app takes its time. A trial is written down before it begins
 * and taken back when the node has outlived it; so trials that are left were deaths with this entry alone under suspicion.
 */

import type { ClaimedEntry } from "../../store/contract/index.ts";
import type { Clock } from "../clock.ts";

/** Deaths of a node that an entry may see before it is tried. */
const CLAIMS_MAX = 3;
const TRIALS_MAX = 5;
/** What a node dies of when a call begins shows within this time. */
const TRIAL_MS = 1_000;

export interface SuspectsParts {
  /** Notes a trial. */
  begin(entry: ClaimedEntry): Promise<void>;
  /** Takes it back. */
  acquit(entry: ClaimedEntry): Promise<void>;
  clock: Clock;
}

export class Suspects {
  readonly #parts: SuspectsParts;
  #lastTrial: Promise<unknown> = Promise.resolve();

  constructor(parts: SuspectsParts) {
    this.#parts = parts;
  }

  isGuilty({ trials }: ClaimedEntry): boolean {
    return trials >= TRIALS_MAX;
  }

  /** Does work that the node might die of. A suspect waits for its turn; its trial ends with the work, or after a while. */
  async watch<Result>(entry: ClaimedEntry, work: () => Promise<Result>): Promise<Result> {
    if (entry.claims <= CLAIMS_MAX) return work();
    const before = this.#lastTrial;
    let end: () => void = () => undefined;
    this.#lastTrial = new Promise<void>((resolve) => (end = resolve));
    await before;
    let acquitted: Promise<void> | null = null;
    const acquit = () => {
      acquitted ??= this.#parts.acquit(entry).finally(end);
      return acquitted;
    };
    const stopWaiting = this.#parts.clock.after(TRIAL_MS, () => void acquit().catch(() => undefined));
    try {
      await this.#parts.begin(entry);
      return await work();
    } finally {
      stopWaiting();
      // Where it cannot be written, the trial counts: that is one of several.
      await acquit().catch(() => undefined);
    }
  }
}
