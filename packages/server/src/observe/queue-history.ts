/**
 * The length of the queue and the age of its oldest call over the last hours: sampled every few seconds and kept in memory, in slots of
 * half a minute. Lost on restart; these are curves for people, not exact records.
 */

import type { EnvironmentId } from "@inlet/protocol";
import type { Logger } from "pino";
import type { QueueDepth, StoreViews } from "../store/contract/index.ts";

const SAMPLE_EVERY_MS = 10_000;
/**
 * A query that takes long, because a million calls wait, delays the next one, so that other reads are not blocked. One that failed
 * delays it less: the store may be back soon.
 */
const REST_PER_POLL = 100;
const REST_PER_FAILURE = 4;
const SLOT_MS = 30_000;
/** Six hours. */
const SLOTS_MAX = 720;
/** As many as a chart can show; if slots share a point, the highest value is used. */
const POINTS_MAX = 180;

export interface QueueFigures {
  waiting: number;
  oldestAgeMs: number;
}

export interface QueuePoint extends QueueFigures {
  at: number;
}

/** Environments with an empty queue are not included. */
interface Slot {
  at: number;
  figures: Map<EnvironmentId, QueueFigures>;
}

export interface QueueHistoryParts {
  views: Pick<StoreViews, "queueDepths">;
  /** Entries that this node has claimed and not begun: to the store they look in progress. */
  waitingSince(): ReadonlyMap<EnvironmentId, number>;
  log: Logger;
  now: () => number;
}

const NOTHING: QueueFigures = { waiting: 0, oldestAgeMs: 0 };

export class QueueHistory {
  readonly #parts: QueueHistoryParts;
  readonly #slots: Slot[] = [];
  #timer: NodeJS.Timeout | null = null;
  #polling: Promise<unknown> = Promise.resolve();
  #stopped = false;

  constructor(parts: QueueHistoryParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#pollAgain(0);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#timer) clearTimeout(this.#timer);
    await this.#polling;
  }

  /** A request samples too, so that the curve ends with the value it returns. */
  async current(environmentId: EnvironmentId): Promise<QueueFigures> {
    return (await this.sample()).get(environmentId) ?? NOTHING;
  }

  /** Oldest first. Times without samples, such as before the last start, have no point. */
  points(environmentId: EnvironmentId, from: number, to: number): QueuePoint[] {
    const within = this.#slots.filter(({ at }) => at > from - SLOT_MS && at < to);
    const size = Math.ceil(within.length / POINTS_MAX);
    const points: QueuePoint[] = [];
    for (const [index, { at, figures }] of within.entries()) {
      const own = figures.get(environmentId) ?? NOTHING;
      const last = points.at(-1);
      if (index % size > 0 && last) Object.assign(last, highest(last, own));
      else points.push({ at, ...own });
    }
    return points;
  }

  async sample(): Promise<ReadonlyMap<EnvironmentId, QueueFigures>> {
    const found = await this.#depths();
    const slot = this.#slotAt(this.#parts.now());
    for (const [id, figures] of found) slot.figures.set(id, highest(slot.figures.get(id) ?? NOTHING, figures));
    return found;
  }

  #slotAt(at: number): Slot {
    const last = this.#slots.at(-1);
    // If the clock is set back, the current slot is kept.
    if (last && at < last.at + SLOT_MS) return last;
    const slot = { at: at - (at % SLOT_MS), figures: new Map() };
    this.#slots.push(slot);
    if (this.#slots.length > SLOTS_MAX) this.#slots.shift();
    return slot;
  }

  async #depths(): Promise<Map<EnvironmentId, QueueFigures>> {
    const depths = await this.#parts.views.queueDepths();
    const now = this.#parts.now();
    const here = this.#parts.waitingSince();
    const figures = ({ environmentId, waiting, oldestDueAt }: QueueDepth): [EnvironmentId, QueueFigures] => {
      const oldest = Math.min(oldestDueAt ?? now, here.get(environmentId) ?? now);
      return [environmentId, { waiting, oldestAgeMs: Math.max(0, now - oldest) }];
    };
    return new Map(depths.map(figures));
  }

  #pollAgain(afterMs: number): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#polling = this.#poll();
    }, afterMs).unref();
  }

  async #poll(): Promise<void> {
    const begun = performance.now();
    let rest = REST_PER_POLL;
    try {
      await this.sample();
    } catch (error) {
      this.#parts.log.debug({ err: error }, "the queue could not be read");
      rest = REST_PER_FAILURE;
    }
    this.#pollAgain(Math.max(SAMPLE_EVERY_MS, (performance.now() - begun) * rest));
  }
}

function highest(a: QueueFigures, b: QueueFigures): QueueFigures {
  return { waiting: Math.max(a.waiting, b.waiting), oldestAgeMs: Math.max(a.oldestAgeMs, b.oldestAgeMs) };
}
