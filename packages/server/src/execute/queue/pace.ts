/**
 * How much of a lane a node holds where others share the store: what it works off in a short while. Of a slow lane the others may do the
 * rest sooner; of a quick one it is cheaper to hold what was just accepted than to write it down as waiting and to claim it a moment later.
 */

const HELD_FOR_MS = 4_000;
export const HELD_MIN = 1_000;
const HELD_MAX = 10_000;
/** Over which it is measured. */
const WINDOW_MS = 500;

export class Pace {
  readonly #now: () => number;
  #from: number;
  #ended = 0;
  #perMs = 0;

  constructor(now: () => number) {
    this.#now = now;
    this.#from = now();
  }

  begin(): void {
    this.#from = this.#now();
    this.#ended = 0;
  }

  /** The lane is empty: that nothing ends until it begins again says nothing. */
  rest(): void {
    this.#from = Number.POSITIVE_INFINITY;
  }

  noteEnd(): void {
    this.#ended++;
  }

  /** How many entries to hold. */
  get held(): number {
    const now = this.#now();
    if (now - this.#from >= WINDOW_MS) {
      this.#perMs = this.#ended / (now - this.#from);
      this.begin();
    }
    return Math.round(Math.min(Math.max(this.#perMs * HELD_FOR_MS, HELD_MIN), HELD_MAX));
  }
}
