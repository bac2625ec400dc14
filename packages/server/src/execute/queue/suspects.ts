/**
 * Finds the entry that crashes its node, without blaming others that the node held.
 *
 * When a node dies, everything it held is claimed again, and nobody knows which entry it was processing. An entry that was claimed
 * several times without an outcome is a suspect. Suspects are tried one at a time, and only while the node itself works on them: when a
 * call begins, and when its response is processed, not while the app works. A trial is stored before it begins; once the node has
 * survived it, all trials of that phase are reset. The suspect with most trials goes first. An entry is therefore given up only
 * if node after node died doing the same thing for it, each time with this entry alone on trial.
 */

import type { ClaimedEntry, TrialPhase } from "../../store/contract/index.ts";
import type { Clock } from "../clock.ts";

/** How many times a node may die with an entry before the entry is tried. */
const CLAIMS_MAX = 3;
const TRIALS_MAX = 5;
/** A crash caused by beginning a call happens within this time. */
const TRIAL_MS = 1_000;

export interface SuspectsParts {
  /** Stores a trial. */
  begin(entry: ClaimedEntry, phase: TrialPhase): Promise<void>;
  /** Resets the trials of this phase. */
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

  /** Does work that might crash the node. A suspect waits until no other is on trial; its trial ends with the work, or after a while. */
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
      // If this cannot be stored, the trial counts: it is one of several.
      await acquit().catch(() => undefined);
    }
  }

  #turn({ trials }: ClaimedEntry): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push({ trials: trials.calling + trials.concluding, begin: resolve });
      // Suspects arrive together, after a start: all of them are known before one is chosen.
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
