/**
 * Work that waits for a sandbox thread, one queue per lane, bounded. Of what waits in a lane, that of the environment which used the least
 * CPU time lately goes first, and within it that of the webhook which used the least: nobody's requests wait behind all requests
 * of another.
 */

import { CpuShares } from "./cpu-shares.ts";
import type { ThreadAnswer, ThreadJob } from "./sandbox/thread.ts";
import type { TransformFault, TransformOwner } from "./transform-outcome.ts";
import type { Lane } from "./version-lanes.ts";

/** Why there is no answer, and what was written to the console before. */
export type Unanswered = TransformFault & { logs?: string[] };

export interface Work {
  job: ThreadJob;
  /** Null for a check, which belongs to no version. */
  versionKey: string | null;
  owner: TransformOwner;
  /** How often a thread died that held it. */
  attempts: number;
  /** Ends the work with the thread's answer, or without one. */
  settle(answer: ThreadAnswer | Unanswered): void;
}

export interface WaitingBounds {
  waitingMax: number;
  waitingSlowMax: number;
  now: () => number;
}

/** When half of the room is taken, a webhook has at most this part of it. */
const PART_OF_ONE = 1 / 4;

/** Waiting work of one webhook, oldest first. */
interface Queue {
  owner: TransformOwner;
  works: Work[];
}

export class WaitingWork {
  readonly #bounds: WaitingBounds;
  /** By webhook. */
  readonly #lanes: Record<Lane, Map<string, Queue>> = { quick: new Map(), new: new Map(), slow: new Map() };
  readonly #counts: Record<Lane, number> = { quick: 0, new: 0, slow: 0 };
  readonly #ofWebhooks: CpuShares;
  readonly #ofEnvironments: CpuShares;

  constructor(bounds: WaitingBounds) {
    this.#bounds = bounds;
    this.#ofWebhooks = new CpuShares(bounds.now);
    this.#ofEnvironments = new CpuShares(bounds.now);
  }

  get size(): number {
    return this.#counts.quick + this.#counts.new + this.#counts.slow;
  }

  isFull(lane: Lane, { webhook }: TransformOwner): boolean {
    const { waitingMax, waitingSlowMax } = this.#bounds;
    if (this.size >= waitingMax || (lane === "slow" && this.#counts.slow >= waitingSlowMax)) return true;
    const own = this.#lanes[lane].get(webhook)?.works.length ?? 0;
    return this.size >= waitingMax / 2 && own >= waitingMax * PART_OF_ONE;
  }

  /** What a run took counts against its webhook and its environment. */
  charge({ webhook, environment }: TransformOwner, cpuMs: number): void {
    this.#ofWebhooks.add(webhook, cpuMs);
    this.#ofEnvironments.add(environment, cpuMs);
  }

  add(lane: Lane, work: Work): void {
    this.#queueOf(lane, work.owner).works.push(work);
    this.#counts[lane]++;
  }

  /** Puts back what a thread had been given and not begun. */
  addFirst(lane: Lane, work: Work): void {
    this.#queueOf(lane, work.owner).works.unshift(work);
    this.#counts[lane]++;
  }

  has(lane: Lane): boolean {
    return this.#counts[lane] > 0;
  }

  /** From the first lane that has any. */
  take(...lanes: Lane[]): Work | undefined {
    const lane = lanes.find((candidate) => this.has(candidate));
    const queue = lane && this.#next(lane);
    if (!lane || !queue) return undefined;
    const work = queue.works.shift();
    if (queue.works.length === 0) this.#lanes[lane].delete(queue.owner.webhook);
    this.#counts[lane]--;
    return work;
  }

  /** A version was judged anew: what waits of it moves along. */
  move(versionKey: string, { webhook }: TransformOwner, from: Lane, to: Lane): void {
    const queue = this.#lanes[from].get(webhook);
    const moving = queue?.works.filter((work) => work.versionKey === versionKey) ?? [];
    if (!queue || moving.length === 0) return;
    queue.works = queue.works.filter((work) => work.versionKey !== versionKey);
    if (queue.works.length === 0) this.#lanes[from].delete(webhook);
    this.#counts[from] -= moving.length;
    for (const work of moving) this.add(to, work);
  }

  #queueOf(lane: Lane, owner: TransformOwner): Queue {
    const known = this.#lanes[lane].get(owner.webhook);
    if (known) return known;
    const queue: Queue = { owner, works: [] };
    this.#lanes[lane].set(owner.webhook, queue);
    return queue;
  }

  /** The queue whose turn it is; of equals, the one that has waited longest. */
  #next(lane: Lane): Queue | undefined {
    const queues = this.#lanes[lane];
    if (queues.size <= 1) return queues.values().next().value;
    let best: { queue: Queue; environment: number; webhook: number } | undefined;
    for (const queue of queues.values()) {
      const environment = this.#ofEnvironments.used(queue.owner.environment);
      if (best && environment > best.environment) continue;
      const webhook = this.#ofWebhooks.used(queue.owner.webhook);
      if (!best || environment < best.environment || webhook < best.webhook) best = { queue, environment, webhook };
    }
    return best?.queue;
  }
}
