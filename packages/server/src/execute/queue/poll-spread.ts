/**
 * When those that wait in large numbers look again. What usually wakes them is announced: the poll is there for what is not, such as a node
 * that died with its slots. Each gets another delay in turn, so that however many there are, all of them together look only so often on
 * average, and not all at the same moment.
 */

const PER_SECOND_MAX = 200;
/** On average, the delay of one of n is n / 2 steps longer than the interval. */
const STEP_MS = 2_000 / PER_SECOND_MAX;

export class PollSpread {
  #turn = 0;

  /** `count`: how many wait, this one included. */
  delayMs(intervalMs: number, count: number): number {
    this.#turn = (this.#turn + 1) % Math.max(count, 1);
    return intervalMs + this.#turn * STEP_MS;
  }
}
