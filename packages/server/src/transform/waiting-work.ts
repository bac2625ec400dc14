/** Work that waits for a sandbox thread, one queue per lane, bounded. */

import type { ThreadAnswer, ThreadJob } from "./sandbox/thread.ts";
import type { TransformFault } from "./transform-outcome.ts";
import type { Lane } from "./version-lanes.ts";

/** Why there is no answer, and what was written to the console before. */
export type Unanswered = TransformFault & { logs?: string[] };

export interface Work {
  job: ThreadJob;
  /** Null for a check, which belongs to no version. */
  versionKey: string | null;
  /** How often a thread died that held it. */
  attempts: number;
  /** Ends the work with the thread's answer, or without one. */
  settle(answer: ThreadAnswer | Unanswered): void;
}

export interface WaitingBounds {
  waitingMax: number;
  waitingSlowMax: number;
}

export class WaitingWork {
  readonly #bounds: WaitingBounds;
  readonly #lanes: Record<Lane, Work[]> = { quick: [], new: [], slow: [] };

  constructor(bounds: WaitingBounds) {
    this.#bounds = bounds;
  }

  get size(): number {
    return this.#lanes.quick.length + this.#lanes.new.length + this.#lanes.slow.length;
  }

  isFull(lane: Lane): boolean {
    return this.size >= this.#bounds.waitingMax || (lane === "slow" && this.#lanes.slow.length >= this.#bounds.waitingSlowMax);
  }

  add(lane: Lane, work: Work): void {
    this.#lanes[lane].push(work);
  }

  /** Puts back what a thread had been given and not begun. */
  addFirst(lane: Lane, work: Work): void {
    this.#lanes[lane].unshift(work);
  }

  has(lane: Lane): boolean {
    return this.#lanes[lane].length > 0;
  }

  /** The oldest of the first lane that has any. */
  take(...lanes: Lane[]): Work | undefined {
    for (const lane of lanes) if (this.has(lane)) return this.#lanes[lane].shift();
    return undefined;
  }

  /** A version was judged anew: what waits of it moves along. */
  move(versionKey: string, from: Lane, to: Lane): void {
    const moving = this.#lanes[from].filter((work) => work.versionKey === versionKey);
    if (moving.length === 0) return;
    this.#lanes[from] = this.#lanes[from].filter((work) => work.versionKey !== versionKey);
    this.#lanes[to].push(...moving);
  }
}
