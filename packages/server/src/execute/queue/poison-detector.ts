/**
 * Finds the entry that crashes its node (a poison entry), without blaming others that the node held.
 *
 * When a node dies, everything it held is claimed again, and nobody knows which entry it was processing. Entries that were claimed
 * several times without an outcome are therefore probed one at a time, and only while the node itself works on them: when a call begins,
 * and when its response is processed, not while the app works. A probe is stored before it begins; once the node has survived it, all
 * probes of that phase are cleared. The entry with most probes goes first. An entry is therefore given up only if node after node died
 * doing the same thing for it, each time with this entry alone in a probe.
 *
 * The phases are counted apart: surviving the beginning of a call says nothing about what its response does to the node. A probe that
 * ends by a lost lease stays counted until one of its phase is survived.
 */

import type { ClaimedEntry, ProbePhase } from "../../store/contract/index.ts";
import type { Clock } from "../clock.ts";

/** How many times a node may die with an entry before the entry is probed. */
const CLAIMS_MAX = 3;
const PROBES_MAX = 5;
/** A crash caused by beginning a call happens within this time. */
const PROBE_MS = 1_000;

export interface PoisonDetectorParts {
  /** Stores a probe. */
  begin(entry: ClaimedEntry, phase: ProbePhase): Promise<void>;
  /** Clears the probes of this phase. */
  clear(entry: ClaimedEntry, phase: ProbePhase): Promise<void>;
  clock: Clock;
}

interface WaitingProbe {
  probes: number;
  begin(): void;
}

export class PoisonDetector {
  readonly #parts: PoisonDetectorParts;
  #waiting: WaitingProbe[] = [];
  #isProbing = false;

  constructor(parts: PoisonDetectorParts) {
    this.#parts = parts;
  }

  isPoison({ probes }: ClaimedEntry): boolean {
    return Math.max(probes.calling, probes.concluding) >= PROBES_MAX;
  }

  /** Does work that might crash the node. A probe waits until no other is in progress; it ends with the work, or after a while. */
  async guard<Result>(entry: ClaimedEntry, phase: ProbePhase, work: () => Promise<Result>): Promise<Result> {
    if (entry.claims <= CLAIMS_MAX) return work();
    await this.#mayProbe(entry);
    let cleared: Promise<void> | null = null;
    const clear = () => {
      cleared ??= this.#parts.clear(entry, phase).finally(() => this.#end());
      return cleared;
    };
    const cancelTimer = this.#parts.clock.after(PROBE_MS, () => void clear().catch(() => undefined));
    try {
      await this.#parts.begin(entry, phase);
      return await work();
    } finally {
      cancelTimer();
      // If this cannot be stored, the probe counts: it is one of several.
      await clear().catch(() => undefined);
    }
  }

  #mayProbe({ probes }: ClaimedEntry): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push({ probes: probes.calling + probes.concluding, begin: resolve });
      // Entries arrive together, after a start: all of them are known before one is chosen.
      setImmediate(() => this.#next());
    });
  }

  #end(): void {
    this.#isProbing = false;
    this.#next();
  }

  #next(): void {
    if (this.#isProbing || this.#waiting.length === 0) return;
    this.#isProbing = true;
    const next = this.#waiting.reduce((most, waiting) => (waiting.probes > most.probes ? waiting : most));
    this.#waiting = this.#waiting.filter((waiting) => waiting !== next);
    next.begin();
  }
}
