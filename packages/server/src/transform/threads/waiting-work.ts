/**
 * Work that waits for a sandbox thread, one bounded queue per lane. Within a lane, the environment that recently used the least
 * CPU time goes first, and within it the webhook that used the least: no webhook waits behind all requests
 * of another.
 */

import type { TransformFault, TransformOwner } from "../transform-outcome.ts";
import { CpuShares } from "./cpu-shares.ts";
import type { ThreadAnswer, ThreadJob } from "./thread.ts";
import type { Lane } from "./version-lanes.ts";

/** Why there is no result, and the console output so far. */
export type Unanswered = TransformFault & { logs?: string[] };

export interface Work {
  job: ThreadJob;
  /** Null for a check, which belongs to no version. */
  versionKey: string | null;
  owner: TransformOwner;
  /** How many threads died while they held it. */
  attempts: number;
  /** Completes the work with the thread's result, or without one. */
  settle(answer: ThreadAnswer | Unanswered): void;
}

export interface WaitingBounds {
  waitingMax: number;
  waitingSlowMax: number;
  now: () => number;
}

/** When half of the capacity is used, a webhook has at most this fraction of it. */
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

  /** The time of a run is charged to its webhook and its environment. */
  charge({ webhook, environment }: TransformOwner, cpuMs: number): void {
    this.#ofWebhooks.add(webhook, cpuMs);
    this.#ofEnvironments.add(environment, cpuMs);
  }

  add(lane: Lane, work: Work): void {
    this.#queueOf(lane, work.owner).works.push(work);
    this.#counts[lane]++;
  }

  /** Puts back work that a thread received and did not begin. */
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

  /** A version was reclassified: its waiting work moves along. */
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

  /** The next queue; of equals, the one that has waited longest. */
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
