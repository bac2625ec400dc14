/**
 * Work that waits for a sandbox thread, one bounded queue per speed. Within a queue, the environment that has used the least CPU time goes
 * first, and within it the webhook that has: no webhook waits behind all requests of another. Use is counted for ten seconds at a time.
 * When a queue is full, whoever has the most waiting gives way, so that nobody can keep others out.
 */

import type { TransformFault, TransformOwner } from "../transform-outcome.ts";
import type { ThreadJob, ThreadResponse } from "./thread.ts";
import type { Speed } from "./version-speeds.ts";

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
  settle(response: ThreadResponse | Unanswered): void;
}

export interface WaitingBounds {
  waitingMax: number;
  waitingSlowMax: number;
  now: () => number;
}

const PERIOD_MS = 10_000;

/** The work of each webhook, oldest first. */
type Webhooks = Map<string, Work[]>;

export class WaitingWork {
  readonly #bounds: WaitingBounds;
  /** By environment. */
  readonly #queues: Record<Speed, Map<string, Webhooks>> = { quick: new Map(), new: new Map(), slow: new Map() };
  readonly #counts: Record<Speed, number> = { quick: 0, new: 0, slow: 0 };
  /** Milliseconds in the current period. */
  readonly #usedByEnvironment = new Map<string, number>();
  readonly #usedByWebhook = new Map<string, number>();
  #periodStart = 0;

  constructor(bounds: WaitingBounds) {
    this.#bounds = bounds;
  }

  get size(): number {
    return this.#counts.quick + this.#counts.new + this.#counts.slow;
  }

  /** Returns what gives way if it is more than may wait: the newest work of the environment, and in it of the webhook, that has the most. */
  add(speed: Speed, work: Work): Work | undefined {
    const { environment, webhook } = work.owner;
    const webhooks = getOrSet(this.#queues[speed], environment, () => new Map());
    getOrSet(webhooks, webhook, () => []).push(work);
    this.#counts[speed]++;
    const { waitingMax, waitingSlowMax } = this.#bounds;
    return this.#counts[speed] > (speed === "slow" ? waitingSlowMax : waitingMax) ? this.#takeNewestOfMost(speed, work.owner) : undefined;
  }

  /** Of those that have as much, the one whose work was added gives way. */
  #takeNewestOfMost(speed: Speed, added: TransformOwner): Work | undefined {
    const environment = keyOfMost(this.#queues[speed], added.environment, lengthOf);
    const webhooks: Webhooks = this.#queues[speed].get(environment) ?? new Map();
    const webhook = keyOfMost(webhooks, added.webhook, (works) => works.length);
    const newest = webhooks.get(webhook)?.pop();
    this.#taken(speed, environment, webhook);
    return newest;
  }

  has(speed: Speed): boolean {
    return this.#counts[speed] > 0;
  }

  take(speed: Speed): Work | undefined {
    const [environment, webhooks] = leastUsed(this.#queues[speed], this.#usedByEnvironment) ?? [];
    const [webhook, works] = (webhooks && leastUsed(webhooks, this.#usedByWebhook)) ?? [];
    if (environment === undefined || webhook === undefined) return undefined;
    const oldest = works?.shift();
    this.#taken(speed, environment, webhook);
    return oldest;
  }

  /** One less waits of this webhook. */
  #taken(speed: Speed, environment: string, webhook: string): void {
    const webhooks = this.#queues[speed].get(environment);
    if (webhooks?.get(webhook)?.length === 0) webhooks.delete(webhook);
    if (webhooks?.size === 0) this.#queues[speed].delete(environment);
    this.#counts[speed]--;
  }

  /** The CPU time of a run counts for its webhook and its environment. */
  charge({ environment, webhook }: TransformOwner, cpuMs: number): void {
    const now = this.#bounds.now();
    if (now - this.#periodStart >= PERIOD_MS) {
      this.#periodStart = now;
      this.#usedByEnvironment.clear();
      this.#usedByWebhook.clear();
    }
    this.#usedByEnvironment.set(environment, (this.#usedByEnvironment.get(environment) ?? 0) + cpuMs);
    this.#usedByWebhook.set(webhook, (this.#usedByWebhook.get(webhook) ?? 0) + cpuMs);
  }
}

function getOrSet<Value>(map: Map<string, Value>, key: string, create: () => Value): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const value = create();
  map.set(key, value);
  return value;
}

function lengthOf(webhooks: Webhooks): number {
  let length = 0;
  for (const works of webhooks.values()) length += works.length;
  return length;
}

/** The key with the greatest size: the given one, if none has a greater one. */
function keyOfMost<Value>(map: ReadonlyMap<string, Value>, given: string, sizeOf: (value: Value) => number): string {
  const own = map.get(given);
  let most = given;
  let mostSize = own === undefined ? 0 : sizeOf(own);
  for (const [key, value] of map) {
    const size = sizeOf(value);
    if (size > mostSize) [most, mostSize] = [key, size];
  }
  return most;
}

/** The first of those that have used the least. */
function leastUsed<Value>(map: ReadonlyMap<string, Value>, used: ReadonlyMap<string, number>): [string, Value] | undefined {
  let best: [string, Value] | undefined;
  let bestMs = Number.POSITIVE_INFINITY;
  for (const entry of map) {
    const ms = used.get(entry[0]) ?? 0;
    if (ms < bestMs) [best, bestMs] = [entry, ms];
  }
  return best;
}
