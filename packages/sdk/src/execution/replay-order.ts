/**
 * Returns stored results to the code in the order in which the steps ended, one at a time. Code that races steps then takes
 * the same path in every call, although all results are available from the start.
 */

import { afterMicrotasks } from "./settle-turn.ts";
import { TURNS_UNTIL_CODE } from "./step-promise.ts";

export interface Replayed {
  hash: string;
}

export class ReplayOrder<Step extends Replayed> {
  #position: ReadonlyMap<string, number>;
  #stack: readonly string[];
  #handedOut = 0;
  #waiting: Step[] = [];
  /** A result was returned and the code has not yet had a chance to act on it. */
  #settling = false;

  /** `stack`: hashed ids in the order of completion; `kept`: all ids with results, in case the stack lacks some. */
  constructor(stack: readonly string[], kept: readonly string[]) {
    const listed = new Set(stack);
    this.#stack = [...stack, ...kept.filter((hash) => !listed.has(hash))];
    this.#position = new Map(this.#stack.map((hash, position) => [hash, position]));
  }

  get isWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  /** Results that the code has not received yet, requested or not. */
  get isReplaying(): boolean {
    return this.#handedOut < this.#stack.length;
  }

  add(step: Step): void {
    this.#waiting.push(step);
  }

  /** Whether this step is next and alone, as in sequential code: no need to wait for others. */
  isSimplyNext(step: Step): boolean {
    return !this.#settling && this.#waiting.length === 0 && this.#stack[this.#handedOut] === step.hash;
  }

  /** The earliest of the requested ones. */
  take(): Step | undefined {
    let earliest = 0;
    for (let i = 1; i < this.#waiting.length; i++) if (this.#rank(i) < this.#rank(earliest)) earliest = i;
    return this.#waiting.splice(earliest, 1)[0];
  }

  handedOut(): void {
    this.#handedOut++;
    this.#settling = true;
    afterMicrotasks(TURNS_UNTIL_CODE, () => {
      this.#settling = false;
    });
  }

  #rank(index: number): number {
    return this.#position.get(this.#waiting[index]?.hash ?? "") ?? Number.POSITIVE_INFINITY;
  }
}
