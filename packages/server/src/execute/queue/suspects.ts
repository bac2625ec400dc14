/**
 * Finds the entry that its node dies of, without blaming those that were held beside it.
 *
 * When a node dies, everything it held is claimed again, and nobody knows what it was working on. An entry that was claimed several
 * times without an outcome is a suspect. Suspects are tried one at a time, and only while the node works on them itself: when a
 * call begins, and when its answer is dealt with, not while the app takes its time. A trial is written down before it begins; once
 * the node has outlived it, all trials of that phase are forgotten. The one with most trials goes first. So an entry is given up only
 * if node after node died doing the same thing for it, each time with this entry alone on trial.
 */

import type { ClaimedEntry, TrialPhase } from "../../store/contract/index.ts";
import type { Clock } from "../clock.ts";

/** Deaths of a node that an entry may see before it is tried. */
const CLAIMS_MAX = 3;
const TRIALS_MAX = 5;
/** What a node dies of when a call begins shows within this time. */
const TRIAL_MS = 1_000;

export interface SuspectsParts {
  /** Notes a trial. */
  begin(entry: ClaimedEntry, phase: TrialPhase): Promise<void>;
  /** Forgets the trials of this phase. */
  acquit(entry: ClaimedEntry, phase: TrialPhase): Promise<void>;
  clock: Clock;
}

interface Turn {
  trials: number;
  begin(): void;
}

export class Suspects {
  readonly #parts: SuspectsParts;
  #waiting: Turn[] = [];
  #isTrying = false;

  constructor(parts: SuspectsParts) {
    this.#parts = parts;
  }

  isGuilty({ trials }: ClaimedEntry): boolean {
    return Math.max(trials.calling, trials.concluding) >= TRIALS_MAX;
  }

  /** Does work that the node might die of. A suspect waits for its turn; its trial ends with the work, or after a while. */
  async watch<Result>(entry: ClaimedEntry, phase: TrialPhase, work: () => Promise<Result>): Promise<Result> {
    if (entry.claims <= CLAIMS_MAX) return work();
    await this.#turn(entry);
    let acquitted: Promise<void> | null = null;
    const acquit = () => {
      acquitted ??= this.#parts.acquit(entry, phase).finally(() => this.#end());
      return acquitted;
    };
    const stopWaiting = this.#parts.clock.after(TRIAL_MS, () => void acquit().catch(() => undefined));
    try {
      await this.#parts.begin(entry, phase);
      return await work();
    } finally {
      stopWaiting();
      // Where it cannot be written, the trial counts: that is one of several.
      await acquit().catch(() => undefined);
    }
  }

  #turn({ trials }: ClaimedEntry): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push({ trials: trials.calling + trials.concluding, begin: resolve });
      // Suspects come together, after a start: all of them are there before one is chosen.
      setImmediate(() => this.#next());
    });
  }

  #end(): void {
    this.#isTrying = false;
    this.#next();
  }

  #next(): void {
    if (this.#isTrying || this.#waiting.length === 0) return;
    this.#isTrying = true;
    const next = this.#waiting.reduce((most, turn) => (turn.trials > most.trials ? turn : most));
    this.#waiting = this.#waiting.filter((turn) => turn !== next);
    next.begin();
  }
}
